import { expect, it } from 'vitest'
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
