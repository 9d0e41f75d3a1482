// Settings that can be read, and are a mistake all the same.
import { statSync } from 'node:fs'
import type { ChainConfig } from '@referrer/process'
import { type Examination, fine, type Verdict, warning, wrong } from './examination.ts'
import { KNOWN_ACCOUNTS } from './known-keys.ts'
import type { Subject } from './subject.ts'

const GROUP = 'configuration'

export function checkConfiguration(examination: Examination, subject: Subject): void {
  const { service, facilitator, roles, isReal } = subject
  const check = (name: string, advice: string, run: () => Verdict<undefined>) =>
    examination.check({ group: GROUP, name, advice, run })

  check('variables', 'correct them', () =>
    fine(`roles ${[...roles].join(', ')}; chains ${subject.chains.map(({ chainId }) => chainId).join(', ')}`),
  )
  if (service && roles.has('api')) {
    check('PUBLIC_URL', 'set PUBLIC_URL', () => judgePublicUrl(service.publicUrl, isReal))
    check('TRUSTED_PROXIES', 'set TRUSTED_PROXIES', () =>
      service.publicUrl.startsWith('https:') && service.trustedProxies.length === 0
        ? warning(
            'not set, although PUBLIC_URL is https, which only a proxy can serve',
            'name the proxy: without it all callers share one rate limit',
          )
        : fine('as the address needs it'),
    )
  }
  check('ALLOW_PRIVATE_HOSTS', 'set it to false', () =>
    isReal && (service?.allowPrivateHosts || facilitator?.allowPrivateHosts)
      ? wrong(
          'true on a chain that is no sandbox: strangers can make us call this machine',
          'set ALLOW_PRIVATE_HOSTS=false, or leave it out',
        )
      : fine('fits the chains'),
  )
  check('keys', 'use a key of its own for each job', () => judgeKeys(subject))
  check('unused keys', 'take them out', () => judgeUnused(subject))
  check('missing keys', 'set them', () => judgeMissing(subject))
  check('file permissions', 'run chmod 600 on them', () => judgeFiles(subject))
  if (service && facilitator) {
    check('contracts of both roles', 'give both the same chains', () =>
      judgeSameChains(service.chains, facilitator.chains),
    )
  }
}

const LOCAL_HOST = /^(localhost|127\..*|\[::1\]|0\.0\.0\.0|.*\.(local|internal))$/

function judgePublicUrl(publicUrl: string, isReal: boolean): Verdict<undefined> {
  const { protocol, hostname } = new URL(publicUrl)
  if (!isReal) return fine(publicUrl)
  const next = 'set PUBLIC_URL to the https address under which people and agents reach the market'
  if (LOCAL_HOST.test(hostname))
    return wrong(`${publicUrl} is this machine only; ref links begin with it`, next)
  if (protocol !== 'https:')
    return wrong(`${publicUrl} is not https, so that anybody between can change links`, next)
  return fine(publicUrl)
}

function judgeKeys({ accounts, service, isReal }: Subject): Verdict<undefined> {
  const known = accounts.find(({ address }) => isReal && KNOWN_ACCOUNTS.has(address))
  if (known) {
    return wrong(
      `${known.variable} is a key of sandboxes (${known.address}), which everybody has`,
      `make a new key for ${known.variable}, grant it the role, and revoke the role of this one`,
    )
  }
  const twice = accounts.find(
    ({ address }, at) => accounts.findIndex((other) => other.address === address) < at,
  )
  const first = accounts.find(({ address }) => address === twice?.address)
  if (twice && first) {
    return wrong(
      `${first.variable} and ${twice.variable} hold the same key (${twice.address})`,
      `make a new key for ${twice.variable} and grant its role: one stolen key must not do both jobs, and two senders would use each other's nonces`,
    )
  }
  const seeds = [...(service?.attestation.values() ?? [])].flatMap(
    (source) => source.seeds?.map((seed) => seed.reveal()) ?? [],
  )
  const both = accounts.find(({ privateKey }) => privateKey && seeds.includes(privateKey.reveal()))
  if (both) {
    return wrong(
      `${both.variable} and ATTESTATION_KEYS hold the same 32 bytes`,
      'make a new seed for ATTESTATION_KEYS: a key has one job',
    )
  }
  const admin = accounts.find(({ address }) => service?.adminAddresses.has(address))
  if (admin) {
    return warning(
      `the account of ${admin.variable} is one of ADMIN_ADDRESSES`,
      'use accounts of people there: whoever steals the key of a program would be an admin',
    )
  }
  return fine(`${accounts.length} accounts, each with one job`)
}

/** A process that faces the internet and sends nothing needs no key. */
function judgeUnused({ roles, service }: Subject): Verdict<undefined> {
  const unused = roles.has('workers')
    ? []
    : [
        ...(service?.oracle?.privateKey ? ['ORACLE_PRIVATE_KEY'] : []),
        ...(service?.publisher?.privateKey ? ['PUBLISHER_PRIVATE_KEY'] : []),
      ]
  return unused.length > 0
    ? warning(
        `${unused.join(', ')}: only the role workers sends`,
        `set ${unused.map((name) => name.replace('PRIVATE_KEY', 'ADDRESS')).join(', ')} instead, and keep the keys where workers run`,
      )
    : fine('none')
}

function judgeMissing({ roles, service, chains }: Subject): Verdict<undefined> {
  const lines: string[] = []
  if (roles.has('workers') && !service?.oracle)
    lines.push('ORACLE_PRIVATE_KEY: no escrow is settled and no cashback released')
  for (const { chainId } of service ? chains : []) {
    if (!service?.attestation.has(chainId))
      lines.push(`ATTESTATION_KEYS: reviews on chain ${chainId} get no ref link`)
  }
  return lines.length > 0 ? warning(lines.join('; '), 'set them, unless that is what you want') : fine('none')
}

/** Anybody else on the machine. */
const OTHERS = 0o007
const SECRET_NAME = /(_KEYS?|_SECRET|_TOKEN|ACCOUNTS|DATABASE_URL|_REPLICA_URLS)(_FILE)?$/

/** Variables whose value is the path of a file with a secret. */
const NAMES_FILE = /_FILE$|^(FACILITATOR_)?(WEB3SIGNER|VAULT_CLIENT)_KEY$/

function judgeFiles({ configFile, env }: Subject): Verdict<undefined> {
  const set = Object.entries(env).filter(([name, value]) => value && SECRET_NAME.test(name))
  const secrets = [
    ...(configFile && set.length > 0 ? [configFile] : []),
    ...set.flatMap(([name, file]) => (NAMES_FILE.test(name) && file ? [file] : [])),
  ]
  const files = [...secrets, ...(env.CHAINS_FILE ? [env.CHAINS_FILE] : [])]
  const open = files.filter((file) => (statSync(file).mode & OTHERS) !== 0)
  if (open.length === 0)
    return fine(files.length === 0 ? 'no files' : `${files.join(', ')}: not open to others`)
  const found = `everybody on this machine can read ${open.join(', ')}, which may hold keys`
  const next = `run chmod 640 ${open.join(' ')}`
  return open.some((file) => secrets.includes(file)) ? wrong(found, next) : warning(found, next)
}

function judgeSameChains(one: readonly ChainConfig[], other: readonly ChainConfig[]): Verdict<undefined> {
  const differing = one.filter(({ chainId, contracts }) => {
    const same = other.find((chain) => chain.chainId === chainId)
    return JSON.stringify(same?.contracts) !== JSON.stringify(contracts)
  })
  if (differing.length === 0) return fine('the same')
  return wrong(
    `service and facilitator have different contracts on chain ${differing.map(({ chainId }) => chainId).join(', ')}`,
    'give both the address book of the same deployment',
  )
}
