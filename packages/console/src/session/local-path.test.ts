import { expect, it } from 'vitest'
import { localPath } from './local-path.ts'

it('takes a path of this site, with its query', () => {
  expect(localPath('/link?code=abc')).toBe('/link?code=abc')
  expect(localPath('/')).toBe('/')
})

it('takes no address of another site, however it is written', () => {
  for (const to of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '\\\\evil',
    '/a\\b',
    '/ x',
    '',
    7,
  ]) {
    expect(localPath(to), String(to)).toBeUndefined()
  }
})
