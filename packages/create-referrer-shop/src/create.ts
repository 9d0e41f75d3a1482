// From an empty folder to a shop that sells. Each step looks first, so that a run continues where the last one stopped.
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { networkNamed } from '@referrer/client/chain'
import {
  connectShop,
  type Described,
  describeProduct,
  listProduct,
  openShop,
  parseName,
  parsePercent,
  parsePrice,
  placeOf,
  type Reporter,
  readProject,
  requireSettled,
  SANDBOX_PASSWORD,
  type Shop,
  ShopError,
  slugOf,
} from '@referrer/merchant/shop'
import { type Answers, collectAnswers, type Given } from './answers.ts'
import { requireUsable, writeGitignore, writeProject } from './files.ts'
import { FRAMEWORKS } from './frameworks.ts'
import { hotKeyOf, OWNER_KEY, ownerOf } from './keys.ts'
import { npmInstall, whileServing } from './processes.ts'

export interface CreateOptions {
  /** Where the shop goes. */
  directory: string
  given: Given
  /** Where buyers will reach the shop, if that is not this machine. */
  endpoint?: string | undefined
  description?: string | undefined
  category?: string | undefined
  packages?: string | undefined
  facilitator?: string | undefined
  isInstalled: boolean
  mayAsk: boolean
  env: NodeJS.ProcessEnv
  reporter: Reporter
}

export interface Created {
  directory: string
  merchantId: number
  productId: string
  /** Undefined until the market knows where the product is bought. */
  endpoint: string | undefined
  framework: string
  network: string
  next: string[]
}

export async function createShop(options: CreateOptions): Promise<Created> {
  const { directory, reporter } = options
  requireUsable(directory)
  const answers = await collectAnswers(options.given, {
    earlier: readProject(directory).data.setup ?? {},
    defaultName: basename(directory),
    mayAsk: options.mayAsk,
  })
  const shop = await connect(options, answers)
  requireSettled(shop, parsePrice(answers.price))

  const hot = await begin(shop, options, answers)
  const { merchantId } = await openShop(shop, {
    settlementSigner: hot.address,
    facilitator: options.facilitator,
  })
  const { productId, slug } = await list(shop, answers)
  const { framework, network, name, price } = answers
  const written = writeProject(directory, {
    name,
    slug,
    price,
    framework,
    network,
    port: hot.port,
    packages: options.packages,
  })
  reporter.step({
    name: 'project',
    changed: written.length > 0,
    text: written.length > 0 ? `wrote ${written.join(', ')}` : 'its files are there',
  })
  const isInstalled = await install(options)
  const endpoint = (await introduce(shop, options, { slug, framework, port: hot.port, isInstalled }))
    ?.endpoint
  const next = nextCommands({ options, network, port: hot.port, isInstalled, endpoint })
  return { directory, merchantId, productId, endpoint, framework, network, next }
}

/** Reads only: where the market cannot be used, nothing is made. */
async function connect({ directory, env, mayAsk, reporter }: CreateOptions, answers: Answers) {
  const place = placeOf(readProject(directory), answers)
  const { isSandbox = false } = place.network
  const owner = await ownerOf({ directory, env, isSandbox, isInteractive: mayAsk })
  const shop = await connectShop(place, { directory, owner: owner.account, reporter })
  return { ...shop, keep: owner.keep, isSandbox }
}

/** The folder, with both keys: from here on a second run continues this one. */
async function begin(
  { project, owner, reporter, keep, isSandbox }: Awaited<ReturnType<typeof connect>>,
  { directory, env }: CreateOptions,
  answers: Answers,
) {
  project.save({ setup: { ...answers }, key: OWNER_KEY })
  writeGitignore(directory)
  const isNew = await keep()
  const password = isSandbox && env.REFERRER_PASSWORD === undefined ? `, password "${SANDBOX_PASSWORD}"` : ''
  reporter.step({
    name: 'owner',
    changed: isNew,
    text: isNew
      ? `made the key of ${owner.address}: ${OWNER_KEY}${password}`
      : `${owner.address}, in ${OWNER_KEY}`,
  })
  const hot = await hotKeyOf(directory, Number(env.PORT) || undefined)
  reporter.step({ name: 'server key', changed: hot.isNew, text: `${hot.address}, in .env` })
  return hot
}

/** Its terms are told once: whoever changed them since by `referrer-merchant list` keeps the change. */
function list(shop: Shop, { name: text, price, commission }: Answers) {
  const name = parseName(text)
  const isListed = shop.project.data.products?.[slugOf(name)] !== undefined
  const terms = { price: parsePrice(price), commissionBps: parsePercent(commission) }
  return listProduct(shop, isListed ? { name } : { name, ...terms })
}

async function install({ directory, isInstalled, reporter }: CreateOptions): Promise<boolean> {
  const isThere = existsSync(join(directory, 'node_modules', '@referrer', 'merchant'))
  if (!isThere && isInstalled) await reporter.during('npm install', npmInstall(directory))
  if (isThere || isInstalled) {
    reporter.step({
      name: 'install',
      changed: !isThere,
      text: isThere ? 'node_modules is there' : 'npm install is done',
    })
  }
  return isThere || isInstalled
}

/** Tells the market where the product is bought: on the sandbox here, elsewhere where the owner says. */
async function introduce(
  shop: Shop,
  { directory, endpoint, description, category }: CreateOptions,
  {
    slug,
    framework,
    port,
    isInstalled,
  }: { slug: string; framework: string; port: number; isInstalled: boolean },
): Promise<Described | undefined> {
  const describe = async (at: string) => {
    const described = await describeProduct(shop, { product: slug, endpoint: at, description, category })
    const failed = described.checks
      .filter(({ ok }) => !ok)
      .map(({ name, detail }) => `${name} ${detail ?? ''}`.trim())
    if (!described.ready) throw new ShopError(`the market cannot use ${at}: ${failed.join('; ')}`)
    const text = `buyers can pay: ${described.checks.map(({ name }) => name).join(', ')}`
    shop.reporter.step({ name: 'ready', changed: false, text })
    return described
  }
  if (endpoint !== undefined) return describe(endpoint)
  if (!shop.network.isSandbox || !isInstalled) return undefined
  const url = `http://127.0.0.1:${port}/buy`
  const args = FRAMEWORKS[framework]?.serve(port) ?? []
  return shop.reporter.during(
    'starting the shop for a moment, so that the market can look at it',
    whileServing({ directory, args, url }, () => describe(url)),
  )
}

function nextCommands({
  options,
  network,
  port,
  isInstalled,
  endpoint,
}: {
  options: CreateOptions
  network: string
  port: number
  isInstalled: boolean
  endpoint: string | undefined
}): string[] {
  const where = networkNamed(network)?.isSandbox ? `http://127.0.0.1:${port}/buy` : 'https://<your host>/buy'
  return [
    `cd ${basename(options.directory)}`,
    ...(isInstalled ? [] : ['npm install']),
    'npm run dev',
    ...(endpoint === undefined ? [`npx referrer-merchant describe --endpoint ${where}`] : []),
    ...(networkNamed(network)?.isSandbox ? ['npm run demo-sale'] : []),
  ]
}
