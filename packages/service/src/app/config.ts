import {
  commonVariables,
  type Env,
  findAccountProblems,
  findKeyProblems,
  keysConfigOf,
  keyVariables,
  type OwnAccount,
  optional,
  ownAccounts,
  Read,
  readConfiguration,
  Secret,
  type Values,
  withDefault,
} from '@referrer/process'
import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { type Config, type EmbedderConfig, type MessengerConfig, ROLES } from '../kit/config.ts'
import {
  attestationOf,
  attestationVariables,
  findAttestationProblems,
  vaultOf,
} from './attestation-config.ts'

const PLAY_CHAINS = [31_337, 1_337]
const ConsoleAccounts = z.array(
  z
    .strictObject({
      name: z.string().min(1).max(50),
      private_key: z.string().transform(Read.privateKey.read),
    })
    .transform(({ name, private_key }, { addIssue }) => {
      if (!private_key) addIssue('not a private key')
      return { name, privateKey: private_key as Secret<Hex> }
    }),
)

const botName = {
  expected: 'the name of a bot without the @: 5 to 32 letters, digits and underscores',
  read: (text: string) => (/^\w{5,32}$/.test(text) ? text : undefined),
}

const webhookSecret = {
  expected: '16 to 256 letters, digits, _ and -',
  read: (text: string) => (/^[\w-]{16,256}$/.test(text) ? new Secret(text) : undefined),
}

const webhookKey = {
  expected: '64 hex digits',
  read: (text: string) => (/^[0-9a-fA-F]{64}$/.test(text) ? new Secret(text.toLowerCase()) : undefined),
}
/** Each key signs every message to a webhook. */
const MOST_WEBHOOK_KEYS = 3

const MIB = 1_048_576

export const variables = {
  ...commonVariables({ dataDir: '.referrer/postgres', port: 8080 }),
  ROLES: withDefault(
    Read.list(
      Read.oneOf(...ROLES, 'facilitator'),
      'any of api, indexer, workers, facilitator, separated by commas',
    ),
    'what the process does: api (HTTP, MCP, console), indexer, workers (senders, schedules, notices), facilitator',
    ROLES.join(','),
  ),
  DATABASE_REPLICA_URLS: optional(
    Read.list(Read.postgresUrl, 'URLs like that of DATABASE_URL, of one server each, separated by commas'),
    'streaming replicas of DATABASE_URL that serve reads, separated by commas; the same for every process with the role api',
  ),
  MAX_REPLICA_LAG_SECONDS: withDefault(
    Read.whole(1, 3_600),
    'seconds that a replica may lag behind before it is not used',
    '10',
  ),
  MAX_LAG_SECONDS: withDefault(
    Read.whole(1),
    'seconds that the records of a chain may lag behind it before the service is not ready',
    '30',
  ),
  MAX_LAG_BLOCKS: optional(Read.whole(1), 'the same in blocks; not looked at when left out'),
  ORACLE_PRIVATE_KEY: optional(Read.privateKey, 'key that signs what the oracle records on-chain'),
  ORACLE_ADDRESS: optional(
    Read.address,
    'the same account by its address: WEB3SIGNER_URL or KEY_MODULE has the key, or another process sends',
  ),
  PUBLISHER_PRIVATE_KEY: optional(Read.privateKey, 'key that signs what the service publishes for others'),
  PUBLISHER_ADDRESS: optional(Read.address, 'the same account by its address'),
  ...keyVariables,
  PUBLIC_URL: optional(
    Read.baseUrl,
    'where callers reach the service; ref links begin with it (default http://HOST:PORT)',
  ),
  FACILITATOR_URL: optional(
    Read.baseUrl,
    'where payments are settled: told in the manifest and by ref links, and asked by /mpp/charge',
  ),
  FAUCET_URL: optional(Read.baseUrl, 'where agents of a sandbox get gas and USDC: told in the manifest'),
  ...attestationVariables,
  ADMIN_ADDRESSES: optional(
    Read.list(Read.address, 'addresses separated by commas, all lower case or with the right checksum'),
    'accounts whose sessions may use /admin, separated by commas',
  ),
  CONSOLE_ORIGINS: optional(
    Read.list(Read.origin, 'origins like https://console.example separated by commas'),
    'origins of web pages that may call signed routes, separated by commas',
  ),
  CONSOLE_ACCOUNTS: optional(
    Read.json(
      ConsoleAccounts,
      'a JSON list of accounts: {"name": "buyer", "private_key": "0x<64 hex digits>"}',
    ),
    'accounts that everybody may sign in with on the web console of a sandbox; refused unless all chains are 31337 or 1337',
  ),
  MCP_HOSTS: optional(
    Read.list(Read.hostname, 'host names without ports, separated by commas'),
    'host names under which programs may call /mcp and /a2a, beside that of PUBLIC_URL and localhost, separated by commas',
  ),
  ANSWER_TIMEOUT_MS: withDefault(
    Read.whole(100, 600_000),
    'how long a request may take to be answered',
    '30000',
  ),
  SESSION_SECONDS: withDefault(Read.whole(60, 86_400), 'how long a session lasts', '3600'),
  ADMIN_SESSION_SECONDS: withDefault(Read.whole(60, 86_400), 'how long a session of an admin lasts', '900'),
  PROOF_BYTES_PER_OWNER: withDefault(
    Read.whole(1),
    'bytes of proofs that an owner may submit on a day (UTC), each counted with 1024 more',
    String(8 * MIB),
  ),
  INTENT_BYTES_PER_OWNER: withDefault(
    Read.whole(1),
    'bytes of intents that an owner may queue on a day, each counted with 2048 more',
    String(8 * MIB),
  ),
  UNSIGNED_PROOF_BYTES_PER_CLIENT: withDefault(
    Read.whole(1),
    'bytes of proofs that a client may submit on a day with the tool, which nobody signs',
    String(2 * MIB),
  ),
  UNSIGNED_PROOF_BYTES: withDefault(Read.whole(1), 'the same of all clients together', String(64 * MIB)),
  UNSIGNED_PROOF_DAYS: withDefault(
    Read.whole(1, 365),
    'days after which a proof that nobody signed or approved is forgotten',
    '7',
  ),
  RECEIPT_APPROVALS_PER_MERCHANT: withDefault(
    Read.whole(0),
    'proofs of purchases at one merchant that a machine may approve by their receipts on a day; admins decide on the others',
    '20',
  ),
  RECEIPT_APPROVALS_PER_AGENT: withDefault(Read.whole(0), 'the same of one agent', '5'),
  RECEIPT_APPROVALS: withDefault(
    Read.whole(0),
    'the same of everybody together; 0: admins decide on all proofs',
    '1000',
  ),
  SPENDING_LIMIT_BYTES_PER_CLIENT: withDefault(
    Read.whole(1),
    'bytes of first spending limits of wallets that a client may set on a day, 256 each',
    String(2 * MIB),
  ),
  REVIEW_SCHEMAS: optional(
    Read.text('a directory'),
    'a directory with schemas of reviews of further categories, one JSON file each',
  ),
  RANK_FULL_COMMISSION: withDefault(
    Read.whole(1),
    'commission of a purchase, in base units of USDC, from which on its votes and opinions count in full',
    '10000',
  ),
  EMBEDDER: withDefault(
    Read.oneOf('auto', 'learned', 'local', 'endpoint', 'off'),
    "what makes vectors of texts for discovery: learned, word vectors learned from the market's own texts; local, a model of English that comes with the service; auto, local until there are 5,000 products, then learned; endpoint, see below; off, words alone",
    'auto',
  ),
  EMBEDDINGS_URL: optional(
    Read.baseUrl,
    'with EMBEDDER=endpoint: where POST <url>/embeddings answers like the API of OpenAI, such as https://api.openai.com/v1',
  ),
  EMBEDDINGS_MODEL: optional(
    Read.text('the name of a model'),
    'with EMBEDDER=endpoint: the model to ask for',
  ),
  EMBEDDINGS_KEY: optional(Read.token, 'with EMBEDDER=endpoint: sent as a bearer token'),
  EMBEDDINGS_DIMENSIONS: withDefault(
    Read.whole(1, 4_096),
    'with EMBEDDER=endpoint: how long the vectors of the model are',
    '1536',
  ),
  DISCOVERY_INDEX: withDefault(
    Read.oneOf('memory', 'postgres'),
    'where discovery looks for products: memory, an index in this process; postgres, the database, which needs pgvector',
    'memory',
  ),
  X402_CATALOGUE_URL: optional(
    Read.baseUrl,
    'a catalogue of x402 resources that merchants are looked up in, such as https://api.cdp.coinbase.com/platform/v2/x402',
  ),
  IPFS_GATEWAY_URL: optional(
    Read.baseUrl,
    'an IPFS gateway, through which registration files at ipfs:// are read; left out, they are not',
  ),
  INTENTS: withDefault(
    Read.oneOf('on', 'off'),
    'whether owners can queue purchases that the runners of their agents poll',
    'on',
  ),
  WEBHOOK_KEYS: optional(
    Read.list(webhookKey, 'one to three keys of 64 hex digits, separated by commas'),
    'keys of 64 hex digits that the secrets of webhooks derive from, the newest first, separated by commas; without one there are no webhooks',
  ),
  TELEGRAM_BOT_TOKEN: optional(
    Read.token,
    'the token of the Telegram bot in whose chat owners link their wallets; without it and CHAT_WEBHOOK_URL there are no chats',
  ),
  TELEGRAM_BOT_NAME: optional(botName, 'with TELEGRAM_BOT_TOKEN: the user name of the bot, without the @'),
  TELEGRAM_API_ROOT: withDefault(Read.baseUrl, 'where the Bot API answers', 'https://api.telegram.org'),
  TELEGRAM_WEBHOOK_SECRET: optional(
    webhookSecret,
    'a secret of 16 to 256 letters, digits, _ and -: Telegram then posts to <PUBLIC_URL>/telegram/webhook; left out: one replica polls',
  ),
  CHAT_WEBHOOK_URL: optional(
    Read.baseUrl,
    'a messenger of your own: where messages to people are posted as signed JSON',
  ),
  CHAT_WEBHOOK_SECRET: optional(
    webhookSecret,
    'with CHAT_WEBHOOK_URL: the key of the HMAC in both directions, 16 to 256 letters, digits, _ and -',
  ),
  CHAT_WEBHOOK_LINK: optional(
    Read.text('a URL with {code} in it'),
    'with CHAT_WEBHOOK_URL: the URL that opens a chat there, such as https://chat.example/?start={code}',
  ),
  CONSOLE_URL: optional(Read.baseUrl, 'where the web console is, for links in chats; left out: PUBLIC_URL'),
  LINK_CODE_SECONDS: withDefault(
    Read.whole(60, 86_400),
    'how long a code that links a wallet to a chat is valid',
    '600',
  ),
}

/** Reads the environment; throws one `ConfigError` that names everything wrong with it. */
export function readConfig(env: Env): Config {
  const { values, common } = readConfiguration(variables, env, (values, { chains }) => [
    ...findKeyProblems(values),
    ...findAccountProblems('ORACLE', values.ORACLE_PRIVATE_KEY, values.ORACLE_ADDRESS),
    ...findAccountProblems('PUBLISHER', values.PUBLISHER_PRIVATE_KEY, values.PUBLISHER_ADDRESS),
    ...findUnsigned(values),
    ...findAttestationProblems(values, chains, values.ROLES.includes('workers')),
    ...(values.DATABASE_REPLICA_URLS && !values.DATABASE_URL
      ? ['DATABASE_REPLICA_URLS: set, although DATABASE_URL is not; the embedded server has no replicas']
      : []),
    ...(values.CONSOLE_ACCOUNTS && chains.some(({ chainId }) => !PLAY_CHAINS.includes(chainId))
      ? ['CONSOLE_ACCOUNTS: everybody could use these accounts; only for chains 31337 and 1337']
      : []),
    ...(['EMBEDDINGS_URL', 'EMBEDDINGS_MODEL'] as const)
      .filter((name) => values.EMBEDDER === 'endpoint' && values[name] === undefined)
      .map((name) => `${name}: not set, although EMBEDDER is endpoint`),
    ...(values.TELEGRAM_BOT_TOKEN && !values.TELEGRAM_BOT_NAME
      ? ['TELEGRAM_BOT_NAME: not set, although TELEGRAM_BOT_TOKEN is']
      : []),
    ...(['CHAT_WEBHOOK_SECRET', 'CHAT_WEBHOOK_LINK'] as const)
      .filter((name) => values.CHAT_WEBHOOK_URL && values[name] === undefined)
      .map((name) => `${name}: not set, although CHAT_WEBHOOK_URL is`),
    ...((values.WEBHOOK_KEYS?.length ?? 0) > MOST_WEBHOOK_KEYS
      ? [`WEBHOOK_KEYS: at most ${MOST_WEBHOOK_KEYS}`]
      : []),
    ...(values.CHAT_WEBHOOK_LINK?.includes('{code}') === false
      ? ['CHAT_WEBHOOK_LINK: expected a URL with {code} in it']
      : []),
  ])
  const publicUrl = values.PUBLIC_URL ?? `http://${common.host}:${common.port}`
  return {
    ...common,
    replicaUrls: values.DATABASE_REPLICA_URLS ?? [],
    maxReplicaLagSeconds: values.MAX_REPLICA_LAG_SECONDS,
    roles: new Set(ROLES.filter((role) => values.ROLES.includes(role))),
    maxLagSeconds: values.MAX_LAG_SECONDS,
    maxLagBlocks: values.MAX_LAG_BLOCKS,
    oracle: accountOf(values.ORACLE_PRIVATE_KEY, values.ORACLE_ADDRESS),
    publisher: accountOf(values.PUBLISHER_PRIVATE_KEY, values.PUBLISHER_ADDRESS),
    keys: keysConfigOf(values),
    publicUrl,
    facilitatorUrl: values.FACILITATOR_URL,
    faucetUrl: values.FAUCET_URL,
    attestation: attestationOf(values),
    vault: vaultOf(values),
    adminAddresses: new Set(values.ADMIN_ADDRESSES),
    consoleOrigins: values.CONSOLE_ORIGINS ?? [],
    consoleAccounts: values.CONSOLE_ACCOUNTS ?? [],
    mcpHosts: values.MCP_HOSTS ?? [],
    sessionSeconds: values.SESSION_SECONDS,
    adminSessionSeconds: values.ADMIN_SESSION_SECONDS,
    bytesPerDay: {
      proofsOfOwner: values.PROOF_BYTES_PER_OWNER,
      intentsOfOwner: values.INTENT_BYTES_PER_OWNER,
      unsignedProofsOfClient: values.UNSIGNED_PROOF_BYTES_PER_CLIENT,
      unsignedProofs: values.UNSIGNED_PROOF_BYTES,
      limitsOfClient: values.SPENDING_LIMIT_BYTES_PER_CLIENT,
    },
    unsignedProofDays: values.UNSIGNED_PROOF_DAYS,
    receiptApprovals: {
      ofMerchant: values.RECEIPT_APPROVALS_PER_MERCHANT,
      ofAgent: values.RECEIPT_APPROVALS_PER_AGENT,
      all: values.RECEIPT_APPROVALS,
    },
    answerTimeoutMs: values.ANSWER_TIMEOUT_MS,
    reviewSchemas: values.REVIEW_SCHEMAS,
    fullCommission: BigInt(values.RANK_FULL_COMMISSION),
    embedder: embedderOf(values),
    discoveryIndex: values.DISCOVERY_INDEX,
    catalogueUrl: values.X402_CATALOGUE_URL,
    ipfsGatewayUrl: values.IPFS_GATEWAY_URL,
    hasIntents: values.INTENTS === 'on',
    webhookKeys: values.WEBHOOK_KEYS ?? [],
    messenger: messengerOf(values, publicUrl),
  }
}

/** Accounts that a process with the role `workers` has to send for, and cannot. */
function findUnsigned(values: Values<typeof variables>): string[] {
  const isRemote = values.WEB3SIGNER_URL !== undefined || values.KEY_MODULE !== undefined
  if (!values.ROLES.includes('workers') || isRemote) return []
  return (['ORACLE', 'PUBLISHER'] as const)
    .filter((name) => values[`${name}_ADDRESS`] && !values[`${name}_PRIVATE_KEY`])
    .map(
      (name) =>
        `${name}_ADDRESS: workers send for it, and nothing signs; set ${name}_PRIVATE_KEY, WEB3SIGNER_URL or KEY_MODULE`,
    )
}

const accountOf = (key: Secret<Hex> | undefined, address: Address | undefined): OwnAccount | undefined =>
  ownAccounts(key && [key], address && [address])[0]

function embedderOf(values: Values<typeof variables>): EmbedderConfig | undefined {
  if (values.EMBEDDER === 'off') return undefined
  if (values.EMBEDDER !== 'endpoint') return { kind: values.EMBEDDER }
  const { EMBEDDINGS_URL: url = '', EMBEDDINGS_MODEL: model = '' } = values
  return { kind: 'endpoint', url, model, dims: values.EMBEDDINGS_DIMENSIONS, key: values.EMBEDDINGS_KEY }
}

function messengerOf(values: Values<typeof variables>, publicUrl: string): MessengerConfig | undefined {
  const {
    TELEGRAM_BOT_TOKEN: token,
    TELEGRAM_BOT_NAME: botName,
    CHAT_WEBHOOK_URL: url,
    CHAT_WEBHOOK_SECRET: secret,
    CHAT_WEBHOOK_LINK: link,
  } = values
  const telegram =
    token && botName
      ? {
          token,
          botName,
          apiRoot: values.TELEGRAM_API_ROOT,
          webhookSecret: values.TELEGRAM_WEBHOOK_SECRET,
        }
      : undefined
  const webhook = url && secret && link ? { url, secret, link } : undefined
  if (!telegram && !webhook) return undefined
  return {
    codeSeconds: values.LINK_CODE_SECONDS,
    consoleUrl: values.CONSOLE_URL ?? publicUrl,
    telegram,
    webhook,
  }
}
