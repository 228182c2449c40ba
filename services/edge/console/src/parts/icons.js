// Icons of 20 × 20, drawn with lines in the colour of the text. They stand beside words, so readers skip them.
import { html } from '../base/html.js'

const paths = {
  ask: 'M3.5 9.5a6.5 5.5 0 1 1 3.2 4.7L3.5 15.5l.9-3A5.4 5.4 0 0 1 3.5 9.5Z',
  interview: 'M4 3.5h8l4 4v9H4zM12 3.5v4h4M6.5 10.5h7M6.5 13.5h5',
  research: 'M8.8 3.5a5.3 5.3 0 1 1 0 10.6 5.3 5.3 0 0 1 0-10.6M12.7 12.7l4 4',
  runs: 'M3.5 5h3v3h-3zM3.5 12h3v3h-3zM9.5 6.5h7M9.5 13.5h7',
  agents: 'M7.5 3h5v4h-5zM2.5 13h5v4h-5zM12.5 13h5v4h-5zM10 7v3M5 13v-3h10v3',
  models: 'M3.5 16.5v-5M8 16.5v-9M12.5 16.5v-6.5M17 16.5v-13',
  documents: 'M3 5.5h5l1.5 2H17v8.5H3z',
  playbooks: 'M4.5 3.5H15v13H5.5a1 1 0 0 1-1-1zM7.5 7h4.5M7.5 10h3',
  check: 'M4.5 10.5l3.7 3.7 7.3-8',
  cross: 'M5.5 5.5l9 9M14.5 5.5l-9 9',
  wait: 'M10 4v6l3.5 2M10 2.7a7.3 7.3 0 1 1 0 14.6 7.3 7.3 0 0 1 0-14.6',
  play: 'M6.5 4.5l9 5.5-9 5.5z',
  stop: 'M5.5 5.5h9v9h-9z',
  person: 'M10 10a3.2 3.2 0 1 0 0-6.4A3.2 3.2 0 0 0 10 10M4 17c.6-3.2 3-5 6-5s5.4 1.8 6 5',
  plus: 'M10 4v12M4 10h12',
  minus: 'M4 10h12',
  fit: 'M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4',
  down: 'M5 7.5l5 5 5-5',
  right: 'M7.5 5l5 5-5 5',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  fork: 'M6 3.5v13M6 10c5 0 8-1 8-5.5M12 6l2-2 2 2',
  again: 'M15.5 6.5A6.5 6.5 0 1 0 16.5 11M15.8 3v3.8H12',
  quote: 'M4 6h4v5H5.5V14M11.5 6h4v5H13V14',
  moon: 'M15.5 12.5A6.5 6.5 0 0 1 8 4.3a6.3 6.3 0 1 0 7.5 8.2Z',
  sun: 'M10 6.7a3.3 3.3 0 1 1 0 6.6 3.3 3.3 0 0 1 0-6.6M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.5 1.5M14.2 14.2l1.5 1.5M15.7 4.3l-1.5 1.5M5.8 14.2l-1.5 1.5',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  warn: 'M10 3.5l7.5 13h-15zM10 8.5v4M10 14.3v.4',
  file: 'M5 3h7l3.5 3.5V17H5zM12 3v3.5h3.5',
  trash: 'M4.5 6h11M8 6V4h4v2M6 6l.7 10.5h6.6L14 6',
  out: 'M8 4H4v12h4M12.5 6.5L16 10l-3.5 3.5M16 10H8',
  link: 'M8 12l4-4M9.5 6.5l2-2a2.8 2.8 0 0 1 4 4l-2 2M10.5 13.5l-2 2a2.8 2.8 0 0 1-4-4l2-2',
  dots: 'M4.5 10h.2M10 10h.2M15.5 10h.2',
}

export const Icon = ({ name, size = 18 }) => html`<svg class="icon" viewBox="0 0 20 20" width=${size} height=${size}
  aria-hidden="true" focusable="false"><path d=${paths[name]} /></svg>`
export const iconPath = name => paths[name]
