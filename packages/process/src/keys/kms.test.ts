import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Address,
  bytesToHex,
  type Hex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  serializeSignature,
} from 'viem'
import { generatePrivateKey, privateKeyToAddress, sign } from 'viem/accounts'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../environment.ts'
import { remoteAccount, signatureOf } from './account.ts'
import { ownAccounts } from './config.ts'
import { ADDRESS, KEY, TRANSACTION } from './keys.fixture.ts'
import { openSigners } from './signers.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const directory = mkdtempSync(join(tmpdir(), 'referrer-kms-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('a signature of a key management service', () => {
  const hash = keccak256('0x1234')
  const der = (r: bigint, s: bigint): Hex => {
    const integer = (value: bigint) => {
      const plain = value.toString(16)
      const even = plain.length % 2 ? `0${plain}` : plain
      const padded = Number.parseInt(even.slice(0, 2), 16) > 127 ? `00${even}` : even
      return `02${(padded.length / 2).toString(16).padStart(2, '0')}${padded}`
    }
    const body = integer(r) + integer(s)
    return `0x30${(body.length / 2).toString(16).padStart(2, '0')}${body}`
  }

  it('is taken as DER or as a pair, with a high s too, and made what a chain takes', async () => {
    for (let byte = 1; byte <= 8; byte += 1) {
      const privateKey: Hex = `0x${byte.toString(16).padStart(2, '0').repeat(32)}`
      const address = privateKeyToAddress(privateKey)
      const made = await sign({ hash, privateKey })
      const [r, s] = [BigInt(made.r), BigInt(made.s)]
      const pair: Hex = `0x${made.r.slice(2)}${made.s.slice(2)}`
      for (const answer of [der(r, s), der(r, ORDER - s), pair, serializeSignature(made)]) {
        const { r, s, yParity } = await signatureOf(address, hash, answer)
        expect({ r, s, yParity }).toEqual({ r: made.r, s: made.s, yParity: made.yParity })
      }
    }
  })

  it('is refused when it is of another key, of another digest, cut, lengthened, or nothing at all', async () => {
    const made = await sign({ hash, privateKey: KEY })
    const [r, s] = [BigInt(made.r), BigInt(made.s)]
    const good = der(r, s)
    const stranger = privateKeyToAddress(generatePrivateKey())
    const refused = (address: Address, digest: Hex, answer: Hex) =>
      expect(signatureOf(address, digest, answer)).rejects.toThrow('is not a signature of')
    await refused(stranger, hash, good)
    await refused(ADDRESS, keccak256('0x1235'), good)
    for (const bad of [
      '0x',
      '0x30',
      good.slice(0, -2),
      `${good}00`,
      der(0n, s),
      der(r, ORDER),
      `0x${'00'.repeat(64)}`,
    ])
      await refused(ADDRESS, hash, bad as Hex)
  })

  it('of a module makes an account that signs', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
    const { d = '' } = privateKey.export({ format: 'jwk' })
    const address = privateKeyToAddress(bytesToHex(Buffer.from(d, 'base64url'), { size: 32 }))
    const file = join(directory, 'kms.mjs')
    // A service signs a digest as it is; node:crypto hashes first, so the pair comes from viem's own signature.
    writeFileSync(
      file,
      `import { sign } from ${JSON.stringify(import.meta.resolve('viem/accounts'))}
export default async (address) => address === '${address}' ? {
  publicKey: async () => ${JSON.stringify(pem(publicKey))},
  signDigest: async (digest) => {
    const { r, s } = await sign({ hash: '0x' + Buffer.from(digest).toString('hex'), privateKey: '0x${Buffer.from(d, 'base64url').toString('hex').padStart(64, '0')}' })
    return Buffer.from(r.slice(2) + s.slice(2), 'hex')
  },
} : address === '${ADDRESS}' ? { publicKey: async () => ${JSON.stringify(pem(publicKey))}, signDigest: async () => Buffer.alloc(64) } : undefined`,
    )
    const config = { web3signer: undefined, keyModule: file, retiring: [] }
    const { accounts } = await openSigners(config, ownAccounts([], [address]))
    const raw = await accounts[0]?.signTransaction(TRANSACTION)
    expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(address)
    expect(parseTransaction(raw as Hex)).toMatchObject({ nonce: 7, data: '0xabcdef' })
    const problem = async (named: Address) => {
      const error = await openSigners(config, ownAccounts([], [named])).catch((error: unknown) => error)
      return error instanceof ConfigError ? error.problems : error
    }
    expect(await problem(ADDRESS)).toEqual([
      `KEY_MODULE: the key that it gives for ${ADDRESS} is that of ${address}`,
    ])
    const stranger = privateKeyToAddress(generatePrivateKey())
    expect(await problem(stranger)).toEqual([`KEY_MODULE: it has no key of ${stranger}`])
  })

  const pem = (key: KeyObject) => key.export({ format: 'pem', type: 'spki' }).toString()
})

it('an account elsewhere signs no typed data', async () => {
  const account = remoteAccount(ADDRESS, async () => '0x')
  const data = {
    domain: {},
    types: { A: [{ name: 'a', type: 'uint8' }] },
    primaryType: 'A',
    message: { a: 1 },
  } as const
  await expect(account.signTypedData(data)).rejects.toThrow('sends transactions only')
})
