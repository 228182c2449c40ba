// A list of which only the rows in sight are in the page. Rows have one height.
import { html, useEffect, useLayoutEffect, useRef, useState } from '../base/html.js'

const MORE = 8 // rows above and below the sight

export function VirtualList({ items, height, max = 560, row, keyOf, label, onEnd, role = 'list', startTop = 0, onTop }) {
  const box = useRef(null)
  const [top, setTop] = useState(startTop), [sight, setSight] = useState(max)
  useLayoutEffect(() => {
    if (startTop) box.current.scrollTop = startTop
    const watch = new ResizeObserver(() => setSight(box.current?.clientHeight || max))
    watch.observe(box.current)
    return () => watch.disconnect()
  }, [])
  const first = Math.max(0, Math.floor(top / height) - MORE)
  const last = Math.min(items.length, Math.ceil((top + sight) / height) + MORE)
  useEffect(() => {
    if (onEnd && items.length && last >= items.length) onEnd()
  }, [last, items.length])
  const rows = []
  for (let i = first; i < last; i++) rows.push(html`<div key=${keyOf ? keyOf(items[i], i) : i} class="virtual-row"
    role=${role === 'list' ? 'listitem' : undefined} aria-setsize=${items.length} aria-posinset=${i + 1}
    style=${{ height: height + 'px', top: i * height + 'px' }}>${row(items[i], i)}</div>`)
  return html`<div class="virtual" ref=${box} tabindex="0" aria-label=${label} style=${{ maxHeight: max + 'px' }}
    role=${role === 'list' ? undefined : 'region'} onScroll=${event => { setTop(event.currentTarget.scrollTop); onTop?.(event.currentTarget.scrollTop) }}>
    <div role=${role === 'list' ? 'list' : undefined} aria-label=${label} class="virtual-all" style=${{ height: items.length * height + 'px' }}>${rows}</div></div>`
}
