import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  ConfigError,
  describeVariables,
  optional,
  readEnvironment,
  required,
  withDefault,
} from './environment.ts'
import { privateKey, text, whole } from './readers.ts'

const table = {
  PORT: withDefault(whole(0, 65_535), 'port to listen on', '8080'),
  KEY: required(privateKey, 'key that signs'),
  NAME: optional(text('a name'), 'how it is called'),
}
const KEY = `0x${'ab'.repeat(32)}`

it('reads what is set, and falls back to a default or to nothing; an empty variable is not set', () => {
  const { values, problems } = readEnvironment(table, { KEY, PORT: ' ', NAME: '', OTHER: 'x' })
  expect(values).toEqual({ PORT: 8080, KEY: expect.anything(), NAME: undefined })
  expect(values?.KEY.reveal()).toBe(KEY)
  expect(problems).toEqual([])
  expect(readEnvironment(table, { KEY, PORT: ' 81 ', NAME: ' shop ' }).values).toMatchObject({
    PORT: 81,
    NAME: 'shop',
  })
})

it('has no values when one is bad or missing, and names all of these without telling what they were', () => {
  expect(readEnvironment(table, { PORT: 'hunter2', KEY: '0xhunter2' })).toEqual({
    values: undefined,
    problems: [
      'PORT: expected a whole number from 0 to 65535',
      'KEY: expected a private key: 0x and 64 hex digits',
    ],
  })
  expect(readEnvironment(table, {}).problems).toEqual([
    'KEY: not set; expected a private key: 0x and 64 hex digits',
  ])
})

it('reads a variable from the file that <NAME>_FILE names, and tells which cannot be read or are set twice', () => {
  const directory = mkdtempSync(join(tmpdir(), 'referrer-environment-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'key')
  writeFileSync(file, `${KEY}\n`)
  expect(readEnvironment(table, { KEY_FILE: file, PORT_FILE: '' }).values?.KEY.reveal()).toBe(KEY)
  expect(
    readEnvironment(table, { KEY, KEY_FILE: file, NAME_FILE: join(directory, 'none') }).problems,
  ).toEqual([
    'KEY_FILE: set either this or KEY, not both',
    `NAME_FILE: ${join(directory, 'none')} cannot be read (ENOENT)`,
  ])
  writeFileSync(file, '0xhunter2')
  expect(readEnvironment(table, { KEY_FILE: file }).problems).toEqual([
    'KEY: expected a private key: 0x and 64 hex digits',
  ])
  writeFileSync(file, '\n')
  expect(readEnvironment(table, { KEY_FILE: file }).problems).toEqual([
    'KEY: not set; expected a private key: 0x and 64 hex digits',
  ])
})

it('an error has a line for each problem', () => {
  expect(new ConfigError(['A: wrong', 'B: wrong']).message).toBe(
    'The configuration cannot be used:\n  A: wrong\n  B: wrong',
  )
})

it('describes every variable with its default', () => {
  expect(describeVariables(table)).toBe(
    '  PORT  port to listen on (default 8080)\n  KEY   key that signs\n  NAME  how it is called',
  )
})
