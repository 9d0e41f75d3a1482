import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, describe, expect, it } from 'vitest'
import { readEnvironment } from '../environment.ts'
import { Secret } from '../secret.ts'
import { findAccountProblems, findKeyProblems, keysConfigOf, keyVariables } from './config.ts'
import { ADDRESS, KEY } from './keys.fixture.ts'
import { SIGNER_TEST } from './testing/tls.ts'

const directory = mkdtempSync(join(tmpdir(), 'referrer-keys-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('the settings of keys', () => {
  const read = (env: Record<string, string>) => readEnvironment(keyVariables, env)
  const cert = join(directory, 'cert.pem')
  writeFileSync(cert, SIGNER_TEST.cert)

  it('are read from variables and files', () => {
    const { values } = read({
      WEB3SIGNER_URL: 'https://signer.test:9000/',
      WEB3SIGNER_CERT: cert,
      WEB3SIGNER_KEY: cert,
      RETIRING_PRIVATE_KEYS: KEY,
    })
    if (!values) throw new Error('not read')
    expect(findKeyProblems(values)).toEqual([])
    expect(keysConfigOf(values)).toMatchObject({
      web3signer: { url: 'https://signer.test:9000', cert: SIGNER_TEST.cert, timeoutMs: 3_000 },
      retiring: [{ address: ADDRESS }],
    })
    expect(JSON.stringify(keysConfigOf(values))).not.toContain('11'.repeat(32))
  })

  it('that do not fit together are named', () => {
    const { values } = read({
      WEB3SIGNER_URL: 'http://signer.test',
      WEB3SIGNER_KEY: cert,
      KEY_MODULE: 'x.mjs',
    })
    if (!values) throw new Error('not read')
    expect(findKeyProblems(values)).toEqual([
      'KEY_MODULE: WEB3SIGNER_URL is set, too; keep one of them',
      'WEB3SIGNER_KEY: only for a WEB3SIGNER_URL that begins with https',
      'WEB3SIGNER_CERT, WEB3SIGNER_KEY: set both or none',
    ])
    expect(read({ WEB3SIGNER_CA: '/nowhere' }).problems).toEqual([
      'WEB3SIGNER_CA: expected the path of a file that can be read',
    ])
    const key = new Secret(KEY)
    expect(findAccountProblems('ORACLE', key, ADDRESS)).toEqual([])
    expect(findAccountProblems('ORACLE', key, privateKeyToAddress(generatePrivateKey()))).toEqual([
      'ORACLE_ADDRESS: is not the account of ORACLE_PRIVATE_KEY; set one of the two',
    ])
  })
})
