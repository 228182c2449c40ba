// The libraries, in one place: every module takes them from here. The bundle leaves this import as it is, and vendor.js
// lies beside it.
import { h, htm } from './vendor.js'

export {
  Component, createRef, Fragment, h, render, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState,
  batch, computed, effect, signal, Marked, DOMPurify, uPlot,
} from './vendor.js'
export const html = htm.bind(h)
