// A layered layout: nodes in rows by their longest path, the order in a row by the mean place of its neighbours, arrows
// that go back drawn beside. Nodes have sizes of their own. O(sweeps × (nodes + arrows)).
const GAP_X = 28, GAP_Y = 56, SWEEPS = 6

// Arrows that close a cycle, by a search in depth from the starts.
function backArrows(ids, out, starts) {
  const state = new Map(), back = new Set()
  for (const first of [...starts, ...ids]) {
    if (state.has(first)) continue
    const stack = [[first, 0]]
    state.set(first, 1)
    while (stack.length) {
      const top = stack.at(-1)
      const next = out.get(top[0])[top[1]++]
      if (!next) {
        state.set(top[0], 2)
        stack.pop()
      } else if (state.get(next.to) === 1) back.add(next)
      else if (!state.has(next.to)) {
        state.set(next.to, 1)
        stack.push([next.to, 0])
      }
    }
  }
  return back
}

function ranksOf(ids, arrows, out) {
  const rank = new Map(ids.map(id => [id, 0])), coming = new Map(ids.map(id => [id, 0]))
  for (const one of arrows) coming.set(one.to, coming.get(one.to) + 1)
  const queue = ids.filter(id => !coming.get(id))
  for (let i = 0; i < queue.length; i++)
    for (const { to } of out.get(queue[i])) {
      rank.set(to, Math.max(rank.get(to), rank.get(queue[i]) + 1))
      coming.set(to, coming.get(to) - 1)
      if (!coming.get(to)) queue.push(to)
    }
  return rank
}

// nodes: [{id, width, height}], arrows: [{from, to, label}], starts: ids. Returns {places: id → {x, y} (centres),
// lines: [{arrow, points, back}], width, height}.
export function layout(nodes, arrows, starts = []) {
  const size = new Map(nodes.map(node => [node.id, node]))
  const ids = nodes.map(node => node.id)
  const known = arrows.filter(one => size.has(one.from) && size.has(one.to))
  const group = list => {
    const out = new Map(ids.map(id => [id, []]))
    for (const one of list) out.get(one.from).push(one)
    return out
  }
  const loops = known.filter(one => one.from === one.to)
  const straight = known.filter(one => one.from !== one.to)
  const back = backArrows(ids, group(straight), starts.filter(id => size.has(id)))
  const forward = straight.filter(one => !back.has(one))
  const rank = ranksOf(ids, forward, group(forward))

  // Long arrows get a small place in each row that they pass.
  const rows = [], above = new Map(), below = new Map(), chains = new Map()
  const place = (id, row, width) => {
    (rows[row] ??= []).push({ id, row, width, x: 0 })
    above.set(id, [])
    below.set(id, [])
  }
  for (const id of ids) place(id, rank.get(id), size.get(id).width)
  forward.forEach((one, number) => {
    const chain = [one.from]
    for (let row = rank.get(one.from) + 1; row < rank.get(one.to); row++) {
      const id = `\0${number}:${row}`
      place(id, row, 14)
      chain.push(id)
    }
    chain.push(one.to)
    for (let i = 1; i < chain.length; i++) {
      below.get(chain[i - 1]).push(chain[i])
      above.get(chain[i]).push(chain[i - 1])
    }
    chains.set(one, chain)
  })

  const at = new Map()
  const number = () => rows.forEach(row => row.forEach((cell, i) => at.set(cell.id, i)))
  number()
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const side = sweep % 2 ? below : above
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const weight = new Map(row.map(cell => {
        const near = side.get(cell.id)
        return [cell, near.length ? near.reduce((sum, id) => sum + at.get(id), 0) / near.length : at.get(cell.id)]
      }))
      row.sort((a, b) => weight.get(a) - weight.get(b))
      row.forEach((cell, i) => at.set(cell.id, i))
    }
  }

  // Places along a row: as near to the neighbours as the order and the gaps allow.
  const cells = new Map(rows.flat().map(cell => [cell.id, cell]))
  for (const row of rows) {
    let x = 0
    for (const cell of row) {
      cell.x = x + cell.width / 2
      x += cell.width + GAP_X
    }
    for (const cell of row) cell.x -= (x - GAP_X) / 2
  }
  for (let pass = 0; pass < 8; pass++) {
    const side = pass % 2 ? below : above
    for (const row of pass % 2 ? [...rows].reverse() : rows) {
      const wish = row.map(cell => {
        const near = [...side.get(cell.id)]
        return near.length ? near.reduce((sum, id) => sum + cells.get(id).x, 0) / near.length : cell.x
      })
      const apart = (a, b) => (a.width + b.width) / 2 + GAP_X
      const left = [], right = []
      row.forEach((cell, i) => { left[i] = i ? Math.max(wish[i], left[i - 1] + apart(row[i - 1], cell)) : wish[i] })
      for (let i = row.length - 1; i >= 0; i--) right[i] = i < row.length - 1 ? Math.min(wish[i], right[i + 1] - apart(row[i], row[i + 1])) : wish[i]
      row.forEach((cell, i) => { cell.x = (left[i] + right[i]) / 2 })
      for (let i = 1; i < row.length; i++) row[i].x = Math.max(row[i].x, row[i - 1].x + apart(row[i - 1], row[i]))
    }
  }

  const heights = rows.map(row => Math.max(14, ...row.map(cell => size.get(cell.id)?.height ?? 0)))
  const middles = []
  let y = 0
  heights.forEach((height, row) => {
    middles[row] = y + height / 2
    y += height + GAP_Y
  })
  const edge = (pick, half) => rows.flat().map(cell => pick(cell.x, cell.width / 2 * half))
  const min = Math.min(...edge((x, w) => x - w, 1)), max = Math.max(...edge((x, w) => x + w, 1))
  const places = new Map(ids.map(id => [id, { x: cells.get(id).x - min, y: middles[rank.get(id)] }]))
  // An arrow passes a row straight, from its upper to its lower end.
  const pass = id => {
    const { row, x } = cells.get(id), half = heights[row] / 2
    return half > 14 ? [{ x: x - min, y: middles[row] - half }, { x: x - min, y: middles[row] + half }] : [{ x: x - min, y: middles[row] }]
  }
  const lines = []
  for (const [arrow, chain] of chains) {
    const from = places.get(arrow.from), to = places.get(arrow.to)
    const points = [{ x: from.x, y: from.y + size.get(arrow.from).height / 2 }, ...chain.slice(1, -1).flatMap(pass),
      { x: to.x, y: to.y - size.get(arrow.to).height / 2 }]
    lines.push({ arrow, points, back: false })
  }
  let width = max - min
  let lane = 0
  for (const arrow of [...back, ...loops]) {
    const from = places.get(arrow.from), to = places.get(arrow.to)
    const right = Math.max(from.x + size.get(arrow.from).width / 2, to.x + size.get(arrow.to).width / 2)
    const between = rows.slice(rank.get(arrow.to), rank.get(arrow.from) + 1).flat().map(cell => cell.x - min + cell.width / 2)
    const bend = Math.max(right, ...between) + 20 + lane++ % 4 * 9
    width = Math.max(width, bend + 8)
    lines.push({ arrow, back: true, points: [
      { x: from.x + size.get(arrow.from).width / 2, y: from.y + 4 }, { x: bend, y: from.y + 4 },
      { x: bend, y: to.y - 4 }, { x: to.x + size.get(arrow.to).width / 2, y: to.y - 4 }] })
  }
  return { places, lines, width, height: Math.max(0, y - GAP_Y) }
}

// The path of a line: curves through its points, or rounded corners for one that goes back.
export function pathOf({ points, back }) {
  if (back) {
    const [a, b, c, d] = points, up = Math.sign(c.y - b.y) || 1, r = Math.min(8, Math.abs(c.y - b.y) / 2)
    return `M${a.x} ${a.y}H${b.x - r}Q${b.x} ${b.y} ${b.x} ${b.y + up * r}V${c.y - up * r}Q${c.x} ${c.y} ${c.x - r} ${c.y}H${d.x}`
  }
  let path = `M${points[0].x} ${points[0].y}`
  for (let i = 1; i < points.length; i++) {
    const a = points[i - 1], b = points[i], bend = (b.y - a.y) / 2
    path += `C${a.x} ${a.y + bend} ${b.x} ${b.y - bend} ${b.x} ${b.y}`
  }
  return path
}
