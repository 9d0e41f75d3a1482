// Replaces the account of an oracle, a publisher or a relayer. Every step looks at the chain and at the outbox and does what is missing, so
// the command can be stopped and run again at any time.
import { isServed, senderHealth } from '@referrer/chain'
import type { Sql } from '@referrer/database'
import type { ChainConfig, Secret } from '@referrer/process'
import { type Address, formatEther, type Hex, isAddressEqual } from 'viem'
import { balanceOf, dataOf, hasRole, type Job, type Post, postsOf, roleOf, sendAsAdmin } from './roles.ts'
import { waitFor } from './wait-for.ts'

export interface AccountRotation {
  job: Job
  from: Address
  to: Address
  chains: readonly ChainConfig[]
  sql: Sql
  adminKey: Secret<Hex> | undefined
  isDryRun: boolean
  /** How long to wait for restarts and for the outbox. */
  waitMs: number
  print(text: string): void
}

/** What the account needs to begin with: some hundred transactions. */
const GAS = 30_000_000n
const GWEI = 1_000_000_000n

const VARIABLES: Record<Job, { key: string; address: string }> = {
  oracle: { key: 'ORACLE_PRIVATE_KEY', address: 'ORACLE_ADDRESS' },
  publisher: { key: 'PUBLISHER_PRIVATE_KEY', address: 'PUBLISHER_ADDRESS' },
  relayer: { key: 'RELAYER_PRIVATE_KEYS', address: 'RELAYER_ADDRESSES' },
}

/** Returns whether everything is done. */
export async function rotateAccount(rotation: AccountRotation): Promise<boolean> {
  const { job, from, to, print } = rotation
  const { name } = roleOf(job)
  const posts = postsOf(job, rotation.chains)
  print(`${job}: from ${from} to ${to}\n`)
  if (!(await changeRoles(rotation, posts, 'grantRole', to, `the new account has ${name}`))) return false
  if (!(await hasGas(rotation))) return false
  if (!(await isInUse(rotation))) return false
  if (!(await isOldIdle(rotation))) return false
  if (!(await changeRoles(rotation, posts, 'revokeRole', from, `the old account has lost ${name}`)))
    return false
  print(
    `done: take ${from} out of RETIRING_PRIVATE_KEYS or RETIRING_ADDRESSES, restart, and destroy its key\n`,
  )
  return true
}

async function changeRoles(
  { job, adminKey, isDryRun, print }: AccountRotation,
  posts: Post[],
  change: 'grantRole' | 'revokeRole',
  account: Address,
  outcome: string,
): Promise<boolean> {
  let isDone = true
  for (const post of posts) {
    const place = `${post.contract} ${post.address} on chain ${post.chain.chainId}`
    if ((await hasRole(job, post, account)) === (change === 'grantRole')) continue
    const data = dataOf(job, change, account)
    if (adminKey && !isDryRun) {
      await sendAsAdmin(adminKey, post, data)
      print(`✓ ${change} sent to ${place}\n`)
    } else {
      print(`! the admin has to send ${change} to ${place}\n    to ${post.address} data ${data}\n`)
      isDone = false
    }
  }
  print(isDone ? `✓ ${outcome}\n` : '· run it again when that is mined, or set ADMIN_PRIVATE_KEY\n')
  return isDone
}

async function hasGas({ chains, to, print }: AccountRotation): Promise<boolean> {
  let isDone = true
  for (const chain of chains) {
    const least = GAS * BigInt(chain.maxFeePerGasGwei) * GWEI
    const balance = await balanceOf(chain, to)
    if (balance > 0n) continue
    print(`! ${to} has no gas on chain ${chain.chainId}: send it some, up to ${formatEther(least)} ETH\n`)
    isDone = false
  }
  print(isDone ? '✓ the new account has gas\n' : '· run it again when it has gas\n')
  return isDone
}

/** A process that sends for an account holds a lock in the database. */
async function isInUse(rotation: AccountRotation): Promise<boolean> {
  const { job, sql, chains, from, to, print } = rotation
  const { key, address } = VARIABLES[job]
  const served = async () =>
    (await Promise.all(chains.map(({ chainId }) => isServed(sql, chainId, to)))).every(Boolean)
  if (!(await served())) {
    print(`! restart every process with the new account in ${key} (or ${address}) and ${from} in
    RETIRING_PRIVATE_KEYS (or RETIRING_ADDRESSES): it then sends what is left, and gets nothing new\n`)
  }
  const isDone = await waitFor(rotation, served)
  print(isDone ? '✓ a process sends for the new account\n' : '· run it again after the restart\n')
  return isDone
}

async function isOldIdle(rotation: AccountRotation): Promise<boolean> {
  const { sql, from, print } = rotation
  const left = async () => (await senderHealth(sql)).filter(({ signer }) => isAddressEqual(signer, from))
  const first = await left()
  for (const { chainId, enqueued, sent, isServed, reason } of first) {
    const hint = isServed ? '' : '; no process sends for it: is it in RETIRING_PRIVATE_KEYS?'
    print(
      `· the old account has ${enqueued + sent} transactions left on chain ${chainId}${reason ? ` (${reason})` : ''}${hint}\n`,
    )
  }
  const isDone = await waitFor(rotation, async () => (await left()).length === 0)
  print(
    isDone
      ? '✓ the old account has nothing left to send\n'
      : '· run it again later; its role stays until then\n',
  )
  return isDone
}
