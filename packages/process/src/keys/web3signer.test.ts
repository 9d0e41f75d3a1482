import { recoverMessageAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import type { ConfigError } from '../environment.ts'
import { Secret } from '../secret.ts'
import { ownAccounts } from './config.ts'
import { SignerError } from './error.ts'
import { ADDRESS, doorOf, KEY, TRANSACTION } from './keys.fixture.ts'
import { openSigners } from './signers.ts'
import { startWeb3Signer, type TestWeb3Signer } from './testing/index.ts'
import { SIGNER_TEST } from './testing/tls.ts'
import { createWeb3Signer } from './web3signer.ts'

const open: { close(): Promise<void> }[] = []
afterEach(() => Promise.all(open.splice(0).map((each) => each.close())))

async function web3signer(...args: Parameters<typeof startWeb3Signer>): Promise<TestWeb3Signer> {
  const signer = await startWeb3Signer(...args)
  open.push(signer)
  return signer
}

describe('an account at Web3Signer', () => {
  it('signs the same transaction as the key itself, and the same message', async () => {
    const signer = await web3signer([generatePrivateKey(), KEY])
    const account = createWeb3Signer(doorOf(signer)).account(ADDRESS)
    const own = privateKeyToAccount(KEY)
    expect(await account.signTransaction(TRANSACTION)).toBe(await own.signTransaction(TRANSACTION))
    for (const message of ['hello', { raw: '0x00ff' }] as const) {
      expect(await account.signMessage({ message })).toBe(await own.signMessage({ message }))
    }
  })

  it('uses nothing that another key has signed', async () => {
    const signer = await web3signer([KEY])
    const account = createWeb3Signer(doorOf(signer)).account(ADDRESS)
    signer.mood = 'lying'
    await expect(account.signTransaction(TRANSACTION)).rejects.toThrow(
      `the signer's answer is not a signature of ${ADDRESS}; it is not used`,
    )
  })

  it('says what is wrong when its signer has no such key, is broken, silent or away, and goes on when it is well', async () => {
    const signer = await web3signer([])
    const account = createWeb3Signer(doorOf(signer)).account(ADDRESS)
    const hasty = createWeb3Signer(doorOf(signer, { timeoutMs: 100 })).account(ADDRESS)
    const failing = (text: string, who = account) =>
      expect(who.signTransaction(TRANSACTION)).rejects.toThrow(text)
    await failing(`Web3Signer has no key of ${ADDRESS}`)
    signer.load(KEY)
    await account.signTransaction(TRANSACTION)
    signer.unload(KEY)
    await failing(`Web3Signer does not sign for ${ADDRESS}: it answers 404; it has no such key`)
    signer.load(KEY)
    signer.mood = 'broken'
    await failing('it answers 500')
    signer.mood = 'silent'
    await failing('does not answer: nothing came within 100 ms', hasty)
    signer.mood = 'honest'
    await signer.kill()
    await failing(`Web3Signer at ${new URL(signer.url).host} does not answer: connect ECONNREFUSED`)
    await signer.revive()
    expect(await account.signTransaction(TRANSACTION)).toBe(
      await privateKeyToAccount(KEY).signTransaction(TRANSACTION),
    )
  })

  it('shows a token to a proxy, and no message shows it', async () => {
    const signer = await web3signer([KEY], { token: 'hunter2' })
    const token = new Secret('hunter2')
    await createWeb3Signer(doorOf(signer, { token })).account(ADDRESS).signTransaction(TRANSACTION)
    const error = await createWeb3Signer(doorOf(signer, { token: new Secret('hunter3') }))
      .missing([ADDRESS])
      .catch((error: Error) => error)
    expect(error).toMatchObject({
      message: 'Web3Signer tells no public keys: it answers 401; check WEB3SIGNER_TOKEN',
    })
  })

  it('is reached over TLS with a client certificate, and not without', async () => {
    const tls = { ...SIGNER_TEST, ca: SIGNER_TEST.cert, requestCert: true, rejectUnauthorized: true }
    const signer = await web3signer([KEY], { tls })
    const { cert, key } = SIGNER_TEST
    const known = doorOf(signer, { ca: cert, cert, key: new Secret(key) })
    await createWeb3Signer(known).account(ADDRESS).signTransaction(TRANSACTION)
    for (const change of [{ cert: undefined, key: undefined }, { ca: undefined }]) {
      await expect(createWeb3Signer({ ...known, ...change }).missing([ADDRESS])).rejects.toThrow(SignerError)
    }
  })
})

describe('the signers of a program', () => {
  const remote = ownAccounts([], [ADDRESS])
  const none = { web3signer: undefined, keyModule: undefined, retiring: [] }

  it('are refused at the start when the remote signer lacks a key, all of them at once', async () => {
    const signer = await web3signer([])
    const other = privateKeyToAddress(generatePrivateKey())
    const error = await openSigners(
      { ...none, web3signer: doorOf(signer) },
      ownAccounts([], [ADDRESS, other]),
    ).catch((error: unknown) => error)
    expect((error as ConfigError).problems).toEqual(
      [ADDRESS, other].map((address) => `WEB3SIGNER_URL: it has no key of ${address}; load it there`),
    )
  })

  it('start without their remote signer, tell of it, and sign when it is there', async () => {
    const signer = await web3signer([KEY])
    await signer.kill()
    const { accounts, trouble } = await openSigners({ ...none, web3signer: doorOf(signer) }, remote)
    expect(await trouble()).toMatch(/^Web3Signer at .* does not answer/)
    await signer.revive()
    expect(await trouble()).toBeUndefined()
    const signature = (await accounts[0]?.signMessage({ message: 'x' })) ?? '0x'
    expect(await recoverMessageAddress({ message: 'x', signature })).toBe(ADDRESS)
    signer.unload(KEY)
    expect(await trouble()).toBe(`Web3Signer has no key of ${ADDRESS}: load it there`)
  })

  it('are those whose key is here, each once; others are left to other processes', async () => {
    const both = ownAccounts([new Secret(KEY), new Secret(KEY)], [ADDRESS])
    expect((await openSigners(none, both)).accounts.map(({ address }) => address)).toEqual([ADDRESS])
    expect((await openSigners(none, remote)).accounts).toEqual([])
  })
})
