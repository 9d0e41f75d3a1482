import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decryptKeystoreJson, encryptKeystoreJson, encryptKeystoreJsonSync } from 'ethers'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressIn, KeystoreError, readKeystore, writeKeystore } from '../src/keystore.ts'
import { thrown } from './world.ts'

const folder = mkdtempSync(join(tmpdir(), 'referrer-keystore-'))
afterAll(() => rmSync(folder, { recursive: true }))

const KEY = generatePrivateKey()
const { address } = privateKeyToAccount(KEY)
const PASSWORD = 'pässword with “all” kinds 🗝'
const written = join(folder, 'deep/agent.json')

let files = 0
/** A file with this content. */
function fileWith(content: unknown): string {
  const path = join(folder, `${++files}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

beforeAll(async () => {
  expect(await writeKeystore(written, KEY, PASSWORD)).toBe(address)
})

describe('a keystore', () => {
  it('gives back the key to the password, and the address to everybody', async () => {
    expect(await readKeystore(written, PASSWORD)).toBe(KEY)
    expect(addressIn(written)).toBe(address)
  })

  it('holds neither key nor password in clear', () => {
    const text = readFileSync(written, 'utf8')
    expect(text).not.toContain(KEY.slice(2))
    expect(text).not.toContain(PASSWORD)
  })

  it('stays shut for another password', async () => {
    for (const password of ['', `${PASSWORD} `]) {
      expect(await thrown(readKeystore(written, password))).toMatchObject({
        name: 'KeystoreError',
        message: `the password does not open ${written}`,
      })
    }
  })

  it('is for its owner alone, with its folder, and leaves no draft behind', () => {
    expect(statSync(written).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700)
    expect(readdirSync(join(folder, 'deep'))).toEqual(['agent.json'])
  })

  it('is never overwritten, by two writers at once neither', async () => {
    const before = readFileSync(written, 'utf8')
    expect(await thrown(writeKeystore(written, generatePrivateKey(), 'other'))).toMatchObject({
      name: 'KeystoreError',
      message: `${written} is there already`,
    })
    expect(readFileSync(written, 'utf8')).toBe(before)

    const path = join(folder, 'race.json')
    const keys = [generatePrivateKey(), generatePrivateKey()]
    const outcomes = await Promise.allSettled(keys.map((key) => writeKeystore(path, key, 'x')))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const winner = keys[outcomes.findIndex(({ status }) => status === 'fulfilled')]
    expect(await readKeystore(path, 'x')).toBe(winner)
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([])
  })

  it.runIf(process.platform === 'linux')(
    'is whole or not there, when the disk takes a part of it only',
    () => {
      const path = join(folder, 'cut.json')
      const module = new URL('../src/keystore.ts', import.meta.url)
      const program = `import { writeKeystore } from '${module}'; await writeKeystore('${path}', '${KEY}', 'x')`
      // The limit of 512 bytes cuts a write as a full disk does.
      const command = 'ulimit -f 1 && exec "$0" --input-type=module-typescript -e "$1"'
      const { status, stderr } = spawnSync('sh', ['-c', command, process.execPath, program], {
        encoding: 'utf8',
      })
      expect(stderr).toContain('EFBIG')
      expect(status).not.toBe(0)
      expect(readdirSync(folder).filter((name) => name.startsWith('cut'))).toEqual([])
    },
  )

  it('has a salt and a vector of its own each time', async () => {
    const again = join(folder, 'again.json')
    await writeKeystore(again, KEY, PASSWORD)
    const [one, other] = [written, again].map((path) => JSON.parse(readFileSync(path, 'utf8')))
    expect(one.crypto.kdfparams.salt).not.toBe(other.crypto.kdfparams.salt)
    expect(one.crypto.cipherparams.iv).not.toBe(other.crypto.cipherparams.iv)
    expect(one.crypto.kdfparams).toMatchObject({ n: 262_144, r: 8, p: 1, dklen: 32 })
  })

  it('takes a tenth of the work, and opens for the same password, where that was asked for', async () => {
    const path = join(folder, 'light.json')
    await writeKeystore(path, KEY, PASSWORD, { isLight: true })
    const { crypto } = JSON.parse(readFileSync(path, 'utf8'))
    expect(crypto.kdfparams).toMatchObject({ n: 4_096, r: 8, p: 6, dklen: 32 })
    expect(await readKeystore(path, PASSWORD)).toBe(KEY)
    expect((await thrown(readKeystore(path, 'other'))).message).toContain('the password does not open')
    expect(await decryptKeystoreJson(readFileSync(path, 'utf8'), PASSWORD)).toMatchObject({ privateKey: KEY })
  })
})

describe('other wallets', () => {
  it('open ours: ethers', async () => {
    const opened = await decryptKeystoreJson(readFileSync(written, 'utf8'), PASSWORD)
    expect(opened).toMatchObject({ address, privateKey: KEY })
  })

  it('are opened: ethers', async () => {
    const path = fileWith(await encryptKeystoreJson({ address, privateKey: KEY }, PASSWORD))
    expect(await readKeystore(path, PASSWORD)).toBe(KEY)
    expect(addressIn(path)).toBe(address)
  })

  it('are opened: the light cost of geth, an address in any case, none', async () => {
    const scrypt = { N: 4_096, r: 8, p: 6 }
    const made = JSON.parse(encryptKeystoreJsonSync({ address, privateKey: KEY }, 'x', { scrypt }))
    const { Crypto: crypto, ...rest } = made
    const light = { ...rest, crypto }
    expect(await readKeystore(fileWith(light), 'x')).toBe(KEY)
    expect(addressIn(fileWith({ ...light, address }))).toBe(address)
    const nameless = fileWith({ ...light, address: undefined })
    expect([addressIn(nameless), await readKeystore(nameless, 'x')]).toEqual([undefined, KEY])
  })

  // The test vectors of the format: https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage
  const VECTOR: Hex = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'

  it('are opened: the vector of the format for PBKDF2', async () => {
    const path = fileWith({
      crypto: {
        cipher: 'aes-128-ctr',
        cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
        ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
        kdf: 'pbkdf2',
        kdfparams: {
          c: 262_144,
          dklen: 32,
          prf: 'hmac-sha256',
          salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
        },
        mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
      },
      id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
      version: 3,
    })
    expect(await readKeystore(path, 'testpassword')).toBe(VECTOR)
    expect((await thrown(readKeystore(path, 'wrong'))).message).toContain('the password does not open')
  })
})

describe('a file that is no keystore, or a hostile one', () => {
  const whole = () => JSON.parse(readFileSync(written, 'utf8'))
  const costing = (kdf: string, change: object) => {
    const { crypto, ...rest } = whole()
    return fileWith({ ...rest, crypto: { ...crypto, kdf, kdfparams: { ...crypto.kdfparams, ...change } } })
  }
  const pbkdf2 = { prf: 'hmac-sha256', c: 1_000 }

  it.each<[string, () => string, string]>([
    ['is not there', () => join(folder, 'none.json'), 'there is no key in'],
    ['is a folder', () => folder, 'cannot be read'],
    ['is no JSON', () => fileWith('{'), 'it is not JSON'],
    ['is null', () => fileWith('null'), 'no keystore of version 3'],
    ['is a list', () => fileWith('[]'), 'no keystore of version 3'],
    ['is of another version', () => fileWith({ ...whole(), version: 1 }), 'no keystore of version 3'],
    ['has no cipher', () => fileWith({ ...whole(), crypto: {} }), 'no keystore of version 3'],
    [
      'holds another length',
      () => fileWith({ ...whole(), crypto: { ...whole().crypto, ciphertext: 'ab' } }),
      'no keystore of version 3',
    ],
  ])('is refused by both, with the reason: %s', async (_, pathOf, reason) => {
    const path = pathOf()
    expect((await thrown(readKeystore(path, PASSWORD))).message).toContain(reason)
    expect(() => addressIn(path)).toThrow(KeystoreError)
  })

  it.each<[string, string, object, string]>([
    ['memory', 'scrypt', { n: 2 ** 30 }, 'more work than any wallet'],
    ['many rounds in little memory', 'scrypt', { n: 262_144, p: 200_000 }, 'more work than any wallet'],
    ['large blocks', 'scrypt', { n: 2, r: 2 ** 29 }, 'more work than any wallet'],
    ['memory within the work', 'scrypt', { n: 2 ** 20, r: 8, p: 1 }, 'not possible here'],
    ['no power of two', 'scrypt', { n: 1_000 }, 'not possible here'],
    ['a text', 'scrypt', { n: '262144' }, 'more work than any wallet'],
    ['nothing', 'scrypt', { n: 0 }, 'more work than any wallet'],
    ['a long key', 'scrypt', { dklen: 2 ** 31 - 1 }, 'not known here'],
    ['no salt', 'scrypt', { salt: undefined }, 'not known here'],
    ['half a byte of salt', 'scrypt', { salt: 'abc' }, 'not known here'],
    ['many iterations', 'pbkdf2', { ...pbkdf2, c: 2 ** 31 - 1 }, 'more work than any wallet'],
    ['another hash', 'pbkdf2', { ...pbkdf2, prf: 'hmac-md5' }, 'not known here'],
    ['another derivation', 'argon2', {}, 'not known here'],
  ])('costs no hours and no memory: it asks for %s', async (_, kdf, change, reason) => {
    const error = await thrown(readKeystore(costing(kdf, change), PASSWORD))
    expect(error).toBeInstanceOf(KeystoreError)
    expect(error.message).toContain(reason)
    // An error that OpenSSL keeps would fail the next one that asks it.
    await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
    const pkcs8 = Buffer.from(`302e020100300506032b657004220420${'11'.repeat(32)}`, 'hex')
    await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign'])
  })

  it('cannot name an address that is not that of its key', async () => {
    const path = fileWith({ ...whole(), address: '11'.repeat(20) })
    expect((await thrown(readKeystore(path, PASSWORD))).message).toContain('do not use it')
  })

  it('leaves nothing behind when its key is none', async () => {
    const path = join(folder, 'bad-key.json')
    await expect(writeKeystore(path, '0x12', PASSWORD)).rejects.toThrow()
    expect(existsSync(path)).toBe(false)
  })
})
