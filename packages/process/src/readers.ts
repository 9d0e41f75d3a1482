import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { isDatabaseUrl } from '@referrer/database'
import { type Address, getAddress, type Hex, isAddress, isHex, size } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Reader } from './environment.ts'
import { Secret } from './secret.ts'

const WHOLE = /^\d{1,15}$/

/** A whole number of at most 15 digits, which a double holds exactly. */
export function whole(min: number, max?: number): Reader<number> {
  return {
    expected: `a whole number from ${min} ${max === undefined ? 'up' : `to ${max}`}`,
    read(text) {
      const number = Number(text)
      return WHOLE.test(text) && number >= min && number <= (max ?? number) ? number : undefined
    },
  }
}

export const oneOf = <const T extends string>(...choices: readonly T[]): Reader<T> => ({
  expected: choices.length === 2 ? choices.join(' or ') : `one of ${choices.join(', ')}`,
  read: (text) => choices.find((choice) => choice === text),
})

export const flag: Reader<boolean> = {
  expected: 'true or false',
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

/** Accepts any text; `expected` is only for messages. */
export const text = (expected: string): Reader<string> => ({ expected, read: (text) => text })

/** A secret that is sent in a header. It is validated here because Node's error about an invalid header would show it. */
export const token: Reader<Secret> = {
  expected: 'a token of plain letters, digits and signs, without spaces',
  read: (text) => (/^[!-~]+$/.test(text.trim()) ? new Secret(text.trim()) : undefined),
}

/** Items separated by commas. One bad item makes the list invalid. */
export const list = <T>(item: Reader<T>, expected: string): Reader<T[]> => ({
  expected,
  read(text) {
    const items = text.split(',').map((part) => item.read(part.trim()))
    return items.every((value) => value !== undefined) ? items : undefined
  },
})

/** JSON that a schema validates. */
export const json = <T>(
  schema: { safeParse(value: unknown): { data?: T | undefined } },
  expected: string,
): Reader<T> => ({
  expected,
  read(text) {
    try {
      return schema.safeParse(JSON.parse(text)).data
    } catch {
      return undefined
    }
  },
})

export const host: Reader<string> = {
  expected: 'a host name or an IP address',
  read: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
}

/** A text that nobody may see. */
export const secret: Reader<Secret> = { expected: 'a text', read: (text) => new Secret(text) }

export const share: Reader<number> = {
  expected: 'a number from 0 to 1',
  read: (text) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Number(text) : undefined),
}

export const commit: Reader<string> = {
  expected: 'a commit: 7 to 64 lower-case hex digits',
  read: (text) => (/^[0-9a-f]{7,64}$/.test(text) ? text : undefined),
}

export const network: Reader<string> = {
  expected: 'an IP address or a network like 10.0.0.0/8',
  read(text) {
    const [address = '', bits, ...more] = text.split('/')
    const mostBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= mostBits)
    return mostBits > 0 && isNetwork && more.length === 0 ? text : undefined
  },
}

/** A URL that paths are appended to, returned without a trailing slash. */
export const baseUrl: Reader<string> = {
  expected: 'an http or https URL without query',
  read: (text) => (isBaseUrl(text) ? text.replace(/\/+$/, '') : undefined),
}

export const hostname: Reader<string> = {
  expected: 'a host name like market.example, without a port',
  read: (text) =>
    URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text ? text : undefined,
}

export const origin: Reader<string> = {
  expected: 'an origin like https://console.example',
  read: (text) => (isBaseUrl(text) && new URL(text).origin === text ? text : undefined),
}

export const postgresUrl: Reader<Secret> = {
  expected:
    'a URL like postgres://user:password@host:5432/database, special characters of the password percent-encoded',
  read: (text) => (isDatabaseUrl(text) ? new Secret(text) : undefined),
}

export const address: Reader<Address> = {
  expected: 'an address: 0x and 40 hex digits, all lower case or with the right checksum',
  read: (text) => (isAddress(text) ? getAddress(text) : undefined),
}

export const privateKey: Reader<Secret<Hex>> = {
  expected: 'a private key: 0x and 64 hex digits',
  read: (text) => (isHex(text) && size(text) === 32 && isKeyOfAccount(text) ? new Secret(text) : undefined),
}

export const addresses = list(
  address,
  'addresses separated by commas, all lower case or with the right checksum',
)

export const privateKeys = list(privateKey, 'private keys separated by commas: 0x and 64 hex digits each')

/** The path of a file; its text is the value. */
export const file: Reader<string> = {
  expected: 'the path of a file that can be read',
  read(path) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return undefined
    }
  },
}

export const secretFile: Reader<Secret> = {
  expected: file.expected,
  read(path) {
    const content = file.read(path)
    return content === undefined ? undefined : new Secret(content)
  },
}

function isKeyOfAccount(key: Hex): boolean {
  try {
    return privateKeyToAccount(key).type === 'local'
  } catch {
    return false
  }
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username + password === '' && search === '' && hash === ''
}
