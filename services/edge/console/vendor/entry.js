// The libraries of the console as one module.
export { Component, createRef, Fragment, h, render } from 'preact'
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, useId } from 'preact/hooks'
export { batch, computed, effect, signal } from '@preact/signals'
export { default as htm } from 'htm'
export { Marked } from 'marked'
export { default as DOMPurify } from 'dompurify'
export { default as uPlot } from 'uplot'
