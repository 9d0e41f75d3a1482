import { sign as signWith } from 'node:crypto'
import { hexToBytes } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { Secret } from '../secret.ts'
import { startVault, type TestVault } from './testing/index.ts'
import { openTransitKey, type VaultConfig } from './vault-transit.ts'

const open: { close(): Promise<void> }[] = []
afterEach(() => Promise.all(open.splice(0).map((each) => each.close())))

describe('a key in the Transit engine of Vault', () => {
  const seed = hexToBytes(`0x${'a1'.repeat(32)}`)
  const configOf = (vault: TestVault, token = vault.token): VaultConfig => ({
    url: vault.url,
    ca: undefined,
    cert: undefined,
    key: undefined,
    timeoutMs: 20_000,
    token: () => new Secret(token),
    namespace: undefined,
    mount: 'transit',
  })
  async function vaultWith(keys: Parameters<typeof startVault>[0]): Promise<TestVault> {
    const vault = await startVault(keys)
    open.push(vault)
    return vault
  }

  it('signs as the seed does', async () => {
    const vault = await vaultWith({ links: seed })
    const [key, ...others] = await openTransitKey(configOf(vault), 'links')
    expect(others).toEqual([])
    const message = new TextEncoder().encode('a link')
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
    const own = signWith(null, message, { key: der, format: 'der', type: 'pkcs8' })
    expect(Buffer.from(await key.sign(message))).toEqual(own)
  })

  it('has its newest version and the one before, until that is forgotten; a later version waits for the next start', async () => {
    const vault = await vaultWith({ links: undefined })
    const [first] = await openTransitKey(configOf(vault), 'links')
    vault.rotate('links')
    const [second, previous] = await openTransitKey(configOf(vault), 'links')
    expect(previous?.publicKey).toBe(first.publicKey)
    expect(second.publicKey).not.toBe(first.publicKey)
    // It still signs with the version whose public key it told.
    await first.sign(new Uint8Array(3))
    vault.forget('links', 2)
    expect(await openTransitKey(configOf(vault), 'links')).toHaveLength(1)
  })

  it('uses no signature of another key', async () => {
    const vault = await vaultWith({ links: seed })
    const [key] = await openTransitKey(configOf(vault), 'links')
    vault.mood = 'lying'
    await expect(key.sign(new Uint8Array(3))).rejects.toThrow('is not a signature of the transit key links')
  })

  it('says what is wrong: the token, the name, a sealed Vault', async () => {
    const vault = await vaultWith({ links: seed })
    await expect(openTransitKey(configOf(vault, 'hunter2'), 'links')).rejects.toThrow(
      'Vault refuses keys/links: 403 (permission denied); check VAULT_TOKEN and its policy',
    )
    await expect(openTransitKey(configOf(vault), 'other')).rejects.toThrow(
      'Vault refuses keys/other: 404; is there such a key?',
    )
    vault.mood = 'sealed'
    await expect(openTransitKey(configOf(vault), 'links')).rejects.toThrow(/^Vault at .* answers 503$/)
  })
})
