import { buildConsole, openConsole } from '@referrer/console'
import { AttestationKey } from '@referrer/protocol'
import { readConfig, type Service, startService } from '@referrer/service'
import { type Hex, hexToBytes } from 'viem'
import type { Chat } from './chat/chat.ts'
import { accountOf, chainsOf, environmentOf, type World, whenReady } from './program.ts'
import { SERVICE_SETTINGS } from './settings.ts'
import type { SandboxAccount } from './state.ts'

/** Signs the sandbox's ref links, a key for each chain. As public as the accounts' keys. */
const attestationSeed = (chain: number): Hex => `0x${(0x5a + chain).toString(16).repeat(32)}`

/** As 64 hex digits: whoever wants to check a ref link of the sandbox needs it. `chain` counts from 0. */
export async function attestationPubKey(chain: number): Promise<string> {
  return (await AttestationKey.signingKey(hexToBytes(attestationSeed(chain)))).attestationPubKey
}

/** The demo market has many reviewers and merchants: the first of a role is named after it alone. */
const nameOf = (
  { role, agentId, merchantId }: Omit<SandboxAccount, 'privateKey'>,
  isFirst: boolean,
): string => (isFirst ? role : `${role} ${agentId ?? merchantId ?? ''}`.trim())

/** Returns when it has read the chain. */
export async function startMarketService(
  world: World,
  options: { port: number; databaseUrl: string; facilitatorUrl: string; faucetUrl: string; chat: Chat },
): Promise<Service> {
  const config = readConfig({
    ...environmentOf(world, options),
    ORACLE_PRIVATE_KEY: accountOf(world, 'oracle').privateKey,
    PUBLISHER_PRIVATE_KEY: accountOf(world, 'publisher').privateKey,
    ATTESTATION_KEYS: JSON.stringify(
      Object.fromEntries(chainsOf(world).map(({ chainId }, at) => [chainId, [attestationSeed(at)]])),
    ),
    ADMIN_ADDRESSES: accountOf(world, 'admin').address,
    // People sign in as one of them on the console, without a wallet of their own.
    CONSOLE_ACCOUNTS: JSON.stringify(
      world.accounts.map(({ privateKey, ...account }, index) => ({
        name: nameOf(account, world.accounts.findIndex(({ role }) => role === account.role) === index),
        private_key: privateKey,
      })),
    ),
    ...SERVICE_SETTINGS,
    ...(!world.isEmbedding && { EMBEDDER: 'off' }),
    FACILITATOR_URL: options.facilitatorUrl,
    FAUCET_URL: options.faucetUrl,
    TELEGRAM_BOT_TOKEN: options.chat.token,
    TELEGRAM_BOT_NAME: options.chat.botName,
    TELEGRAM_API_ROOT: options.chat.url,
  })
  const console = await openConsole(await buildConsole())
  return whenReady('service', await startService(config, { console }))
}
