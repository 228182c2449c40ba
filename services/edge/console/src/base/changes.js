// What changed between two states of a thread, field by field.
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

export function changesOf(before, after) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.filter(name => !same(before?.[name], after?.[name])).map(name => {
    const was = before?.[name], is = after?.[name]
    if (Array.isArray(was) && Array.isArray(is) && is.length > was.length && was.every((one, i) => same(one, is[i]))) return { name, kind: 'grown', added: is.slice(was.length), was, is }
    return { name, kind: was === undefined ? 'new' : is === undefined ? 'gone' : 'changed', was, is }
  })
}

// Lanes of a tree of checkpoints, newest first: {lane, lanes, through: lanes that pass, to: lane of the parent}.
export function lanesOf(checkpoints) {
  const open = [] // lane → the checkpoint that it waits for
  return checkpoints.map(one => {
    let lane = open.indexOf(one.checkpointId)
    if (lane < 0) {
      lane = open.indexOf(null)
      if (lane < 0) lane = open.length
    }
    const joins = open.map((id, i) => (id === one.checkpointId ? i : -1)).filter(i => i >= 0)
    for (const i of joins) open[i] = null
    const through = open.map((id, i) => (id !== null && id !== undefined ? i : -1)).filter(i => i >= 0)
    let to = -1
    if (one.parentCheckpointId) {
      const there = open.indexOf(one.parentCheckpointId)
      to = there >= 0 ? there : lane
      if (there < 0) open[lane] = one.parentCheckpointId
      else if (lane < there) { // the lane to the left goes on
        open[there] = null
        open[lane] = one.parentCheckpointId
        to = lane
        through.splice(through.indexOf(there), 1)
        return { lane, joins, through, to, bend: there }
      }
    }
    while (open.length && open.at(-1) === null) open.pop()
    return { lane, joins, through, to }
  })
}
