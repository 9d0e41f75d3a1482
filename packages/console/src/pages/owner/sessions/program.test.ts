import { expect, it } from 'vitest'
import { programOf } from './program.ts'

it('names browsers and systems as people know them', () => {
  expect(programOf('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36')).toBe(
    'Chrome on Linux',
  )
  expect(programOf('Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0')).toBe(
    'Firefox on Windows',
  )
  expect(programOf('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1')).toBe(
    'Safari on iPhone or iPad',
  )
})

it('shows the name of another program shortened and without unseen marks', () => {
  expect(programOf('node')).toBe('node')
  expect(programOf(`\u202Eevil${'x'.repeat(300)}`)).toBe(`evil${'x'.repeat(56)}…`)
  expect(programOf('')).toBe('A program that gives no name')
})
