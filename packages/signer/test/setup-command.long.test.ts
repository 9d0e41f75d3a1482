// `referrer-signer setup` as a person, or a script, runs it.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readKeystore, writeKeystore } from '@referrer/client/keystore'
import { bundled } from '@referrer/database/testing'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysIn, type NewcomerPlace, PASSWORD, startNewcomerPlace } from './newcomer.ts'
import { MAIN, startSigner } from './signer.ts'

let place: NewcomerPlace
let folder: string
beforeAll(async () => {
  place = await startNewcomerPlace()
  folder = mkdtempSync(join(tmpdir(), 'referrer-setup-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await place?.close()
})

interface Ended {
  code: number | null
  /** Both streams. */
  said: string
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
  }
  const [code] = await once(child, 'close')
  return { code, said }
}

const baseEnv = () => ({
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
})

async function setup(env: Record<string, string>, args: string[] = [], stdin = ''): Promise<Ended> {
  const child = spawn(process.execPath, [await bundled(MAIN), 'setup', ...args], {
    env: { ...baseEnv(), ...env },
  })
  child.stdin.end(stdin)
  return ended(child)
}

const stateOf = (env: Record<string, string>) => env.SIGNER_STATE_DIR ?? ''

it('prints each step, then shows the agent, and does nothing twice', async () => {
  const env = place.nothing()
  const first = await setup(env)
  expect(first).toMatchObject({ code: 0, said: expect.stringMatching(/^key +did +0x/) })
  expect(first.said).toMatch(/\nidentity +did +agent \d+\nmarket +did /)
  const second = await setup(env, ['--json'])
  const report = JSON.parse(second.said)
  expect(report.steps.map(({ state }: { state: string }) => state)).toEqual(Array(5).fill('done'))
  const { address, agentId, chainId } = report
  // No password is needed to look.
  const { SIGNER_PASSWORD: _, ...open } = env
  expect((await setup(open, ['--agents'])).said).toBe(`${address}  agent ${agentId} on chain ${chainId}\n`)
  expect(JSON.parse((await setup(open, ['--agents', '--json'])).said)).toEqual([
    { address, agents: [{ chain_id: chainId, agent_id: agentId }] },
  ])
  expect(await place.identitiesOf(address)).toBe(1n)

  // A signer that runs already knows the agents that the command makes.
  const signer = await startSigner(env)
  const key = generatePrivateKey()
  const imported = JSON.parse((await setup(env, ['--json', '--import', '-'], `${key}\n`)).said)
  expect(imported).toMatchObject({ address: privateKeyToAddress(key) })
  const { wallets } = await signer.must('get_wallet_status')
  expect(wallets.map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual([agentId, imported.agentId])
  await signer.close()
  expect(first.said + second.said).not.toContain(PASSWORD)
})

it('imports a private key from a file, and a keystore, with its own password file, and prints neither', async () => {
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, `${PASSWORD}\n`)
  const { SIGNER_PASSWORD: _, ...env } = place.nothing({ SIGNER_PASSWORD_FILE: passwordFile })
  const [plain, kept] = [generatePrivateKey(), generatePrivateKey()]
  writeFileSync(join(folder, 'plain'), `${plain.slice(2)}\n`)
  await writeKeystore(join(folder, 'kept.json'), kept, PASSWORD)
  const said: string[] = []
  for (const [file, key] of [
    ['plain', plain],
    ['kept.json', kept],
  ] as const) {
    const run = await setup(env, ['--import', join(folder, file)])
    said.push(run.said)
    expect(run, run.said).toMatchObject({ code: 0 })
    const path = join(stateOf(env), 'keys', `${privateKeyToAddress(key).toLowerCase()}.json`)
    expect(await readKeystore(path, PASSWORD)).toBe(key)
  }
  expect(keysIn(stateOf(env))).toHaveLength(2)
  for (const secret of [plain, kept]) expect(said.join()).not.toContain(secret.slice(2))
  rmSync(stateOf(env), { recursive: true })
})

it('refuses in one line, without a key in it', async () => {
  const env = place.nothing()
  const broken = `${generatePrivateKey()}00`
  const { BASE_RPC_URL: _, ...lacking } = env
  const { SIGNER_PASSWORD: __, ...unlocked } = env
  for (const [given, args, stdin, why] of [
    [env, ['--import', '-'], broken, /^--import: expected a private key/],
    [env, ['--import', broken.slice(0, -2)], '', /^--import: give a file, .*not the key itself/],
    [env, ['--import', join(folder, 'none')], '', /^--import: .* cannot be read$/],
    [env, ['--cashback', 'all'], '', /--cashback: expected basis points/],
    [lacking, [], '', /^the signer lacks BASE_RPC_URL: /],
    [unlocked, [], '', /^there is no password to encrypt a key with: set SIGNER_PASSWORD/],
  ] as const) {
    const { code, said } = await setup(given, [...args], stdin)
    expect([code, said.trimEnd()]).toEqual([1, expect.stringMatching(why)])
    expect(said.trimEnd()).not.toContain('\n')
    expect(said).not.toContain(broken.slice(2, 20))
  }
  expect(keysIn(stateOf(env))).toEqual([])
  expect(JSON.parse((await setup(unlocked, ['--json'])).said)).toEqual({
    error: expect.stringContaining('SIGNER_PASSWORD'),
  })
})

it('ends with 1 while something waits, and is explained by --help', async () => {
  place.faucet.before = () => false
  const { code, said } = await setup(place.nothing())
  place.faucet.before = undefined
  expect([code, said]).toEqual([1, expect.stringMatching(/\nidentity +waiting /)])
  const help = await setup({}, ['--help'])
  expect(help.code).toBe(0)
  for (const option of ['import', 'agents', 'cashback', 'json']) expect(help.said).toContain(`--${option}`)
})

it.runIf(process.platform === 'linux')(
  'asks for a new password twice at a terminal, and shows nothing of it',
  async () => {
    const { SIGNER_PASSWORD: _, ...env } = place.nothing()
    const command = `'${process.execPath}' '${await bundled(MAIN)}' setup`
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...baseEnv(), ...env } })
    let shown = ''
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk
      for (const question of ['A new password for your keys: ', 'Once more: ']) {
        if (!shown.endsWith(question)) continue
        child.stdin.write(`${PASSWORD}\r`)
      }
    })
    const { code, said } = await ended(child)
    expect([code, said]).toEqual([0, expect.stringMatching(/identity +did +agent \d+/)])
    expect(said).not.toContain(PASSWORD)
    const [address = '0x'] = keysIn(stateOf(env))
    await readKeystore(join(stateOf(env), 'keys', `${address.toLowerCase()}.json`), PASSWORD)
  },
)
