// The commands: what each takes, and what it prints.
import { confirm, isCancel } from '@clack/prompts'
import { ProductId, ProtocolError } from '@referrer/protocol'
import { demoSale } from '../demo-sale/sale.ts'
import {
  closeProduct,
  closeShop,
  describeProduct,
  findProduct,
  listProduct,
  openShop,
  parseName,
  parsePercent,
  parsePrice,
  parseWebUrl,
  readProject,
  readStats,
  type Shop,
  ShopError,
  showPercent,
  writeRegistration,
} from '../shop/index.ts'
import { parseAddress, parseFileUrl, parseMerchantId } from '../shop/input.ts'
import {
  COMMON_HELP,
  type Options,
  parsed,
  type Surroundings,
  text,
  UsageError,
  type Values,
} from './flags.ts'

export interface Result {
  /** For programs. */
  data: object
  /** For people, after the steps. */
  lines: string[]
  /** False: the exit code is 1. */
  ok?: boolean
}

export interface Command {
  summary: string
  help: string
  options: Options
  /** Before anything is read: wrong values end the command here. Returns what is done with the shop. */
  prepare(
    values: Values,
    surroundings: Surroundings,
  ): Promise<(shop: Shop) => Promise<Result>> | ((shop: Shop) => Promise<Result>)
}

const string = { type: 'string' } as const
const boolean = { type: 'boolean' } as const
const help = (usage: string, about: string, flags: string) =>
  `${about}\n\n  referrer-merchant ${usage}\n\n${flags}${flags && '\n'}${COMMON_HELP}`

const open: Command = {
  summary: 'open a shop: identity, open for sale, known to the market',
  help: help(
    'open [--merchant-id <id>] [--payout <address>] [--signer <address>]',
    'Opens a shop. Run it again to see that all is there, or to change something.',
    `  --merchant-id <id>     use this identity of yours instead of a new one
  --new                  mint another identity although referrer.json names one
  --payout <address>     where your share of sales goes, instead of to the owner
  --signer <address>     the server's hot key, which may ask for settlements and nothing else
  --description <text>   what the market shows about the shop
  --website <url>        the shop's page
  --facilitator <url>    who settles, where the market does not tell`,
  ),
  options: {
    'merchant-id': string,
    new: boolean,
    payout: string,
    signer: string,
    description: string,
    website: string,
    facilitator: string,
  },
  prepare(values) {
    const options = {
      merchantId: parsed(values, 'merchant-id', parseMerchantId),
      isNew: values.new === true,
      payout: parsed(values, 'payout', (value) => parseAddress(value, '--payout')),
      settlementSigner: parsed(values, 'signer', (value) => parseAddress(value, '--signer')),
      description: text(values, 'description'),
      website: parsed(values, 'website', (value) => parseWebUrl(value, '--website')),
      facilitator: parsed(values, 'facilitator', (value) => parseWebUrl(value, '--facilitator')),
    }
    return async (shop) => {
      const opened = await openShop(shop, options)
      const next = shop.project.data.products
        ? []
        : ['', 'Next: referrer-merchant list --name <name> --price <USDC> --commission <percent>']
      return { data: opened, lines: next }
    }
  },
}

const list: Command = {
  summary: 'list a product on the chain, or change its price or commission',
  help: help(
    'list --name <name> --price <USDC> --commission <percent>',
    'Lists a product for sale, or changes what differs. The name gives the id of the product.',
    `  --name <name>          what is sold; of a product that is listed, only what else is named changes
  --price <USDC>         the lowest price of a sale, such as 0.05
  --commission <percent> the reviewers' share of the price, such as 10
  --type <type>          repeat (default) or one-off: whether one buyer buys it often; it cannot be changed
  --product-id <hex>     32 bytes of your own instead of the id that the name gives`,
  ),
  options: { name: string, price: string, commission: string, type: string, 'product-id': string },
  prepare(values) {
    const type = text(values, 'type')
    if (type !== undefined && type !== 'repeat' && type !== 'one-off') {
      throw new ShopError(`--type must be repeat or one-off, not "${type}"`)
    }
    const options = {
      name: parsed(values, 'name', parseName),
      productId: parsed(values, 'product-id', parseProductId),
      price: parsed(values, 'price', parsePrice),
      commissionBps: parsed(values, 'commission', parsePercent),
      ...(type && { isOneOff: type === 'one-off' }),
    }
    return async (shop) => {
      const listed = await listProduct(shop, options)
      const isDescribed = shop.project.data.products?.[listed.slug]?.endpoint !== undefined
      const next = ['', 'Next: start your endpoint, then referrer-merchant describe --endpoint <URL>']
      return { data: listed, lines: isDescribed ? [] : next }
    }
  },
}

const describe: Command = {
  summary: 'tell the market where a product is bought, and have it look there',
  help: help(
    'describe --endpoint <URL> [--product <name>]',
    'Tells the market what the chain does not say, and has it ask the endpoint as a buyer would.',
    `  --product <name>       which product, where the folder has several: its name or id
  --endpoint <url>       where buyers reach it
  --name <name>          what it is called
  --description <text>   what a buyer gets
  --category <category>  such as data, text or images`,
  ),
  options: { product: string, endpoint: string, name: string, description: string, category: string },
  prepare(values) {
    const options = {
      product: text(values, 'product'),
      endpoint: parsed(values, 'endpoint', (value) => parseWebUrl(value, '--endpoint')),
      name: parsed(values, 'name', parseName),
      description: text(values, 'description'),
      category: text(values, 'category'),
    }
    return async (shop) => {
      const described = await describeProduct(shop, options)
      const checks = described.checks.map(
        ({ name, ok, detail }) => `${ok ? '✓' : '✗'} ${name}${detail ? `  ${detail}` : ''}`,
      )
      const end = described.ready
        ? 'Ready: buyers can pay through ref links.'
        : 'Not ready. Run referrer-merchant check to see what to change, then this again.'
      return { data: described, lines: [...checks, '', end], ok: described.ready }
    }
  },
}

const stats: Command = {
  summary: 'sales, revenue, and how the products stand',
  help: help('stats', 'Shows what was sold through ref links, and how the products stand.', ''),
  options: {},
  prepare: () => async (shop) => {
    const read = await readStats(shop)
    const products = read.products.map(({ name, isOpen, commissionBps = 0, productRank, reviews }) =>
      isOpen
        ? `  ${name}: rank ${productRank?.toFixed(2)}, ${count(reviews, 'review')}, commission ${showPercent(commissionBps)}`
        : `  ${name}: closed, ${count(reviews, 'review')}`,
    )
    const lines = [
      `merchant ${read.merchantId} is ${read.status}, rank ${read.merchantRank ?? 'not computed yet'}`,
      `${count(read.sales, 'sale')}, ${read.revenue} USDC`,
      `escrows: ${read.escrowsHeld} hold money, ${read.escrowsSettled} settled`,
      ...products,
    ]
    return { data: read, lines }
  },
}

const registration: Command = {
  summary: 'write the ERC-8004 registration file of the shop, and set its URI',
  help: help(
    'registration --name <name> --description <text> [--set]',
    'Writes agent-registration.json, the file that readers of ERC-8004 look for. What is left out stays as it is there.',
    `  --name <name>          what the shop is called
  --description <text>   what it sells
  --image <url>          a picture
  --website <url>        the shop's page
  --set                  set the URI of the identity on the chain: one transaction
  --url <url>            where you serve the file, https or ipfs; left out, the URI holds the file itself`,
  ),
  options: {
    name: string,
    description: string,
    image: string,
    website: string,
    set: boolean,
    url: string,
  },
  prepare(values) {
    const options = {
      name: parsed(values, 'name', parseName),
      description: text(values, 'description'),
      image: parsed(values, 'image', (value) => parseWebUrl(value, '--image')),
      website: parsed(values, 'website', (value) => parseWebUrl(value, '--website')),
      url: parsed(values, 'url', (value) => parseFileUrl(value, '--url')),
      isSet: values.set === true,
    }
    return async (shop) => {
      const written = await writeRegistration(shop, options)
      const next = options.isSet ? [] : ['', 'Next: run it with --set, so that others find the file']
      return { data: written, lines: next }
    }
  },
}

const close: Command = {
  summary: 'close a product or the whole shop',
  help: help(
    'close (--product <name> | --shop) [--yes]',
    'Closes a product or the shop: its links stop resolving. list and open open them again.',
    `  --product <name>       which product: its name or id
  --shop                 the whole shop
  --yes                  do not ask`,
  ),
  options: { product: string, shop: boolean, yes: boolean },
  async prepare(values, { directory, isInteractive }) {
    const given = text(values, 'product')
    if ((given !== undefined) === (values.shop === true))
      throw new UsageError('say --product <name> or --shop')
    const what =
      given === undefined ? 'the whole shop' : `"${findProduct(readProject(directory), given).name || given}"`
    if (values.yes !== true) {
      if (!isInteractive) throw new ShopError(`say --yes to close ${what}`)
      const answer = await confirm({ message: `Close ${what}? Its ref links stop resolving.` })
      if (isCancel(answer) || !answer) throw new ShopError('nothing was closed')
    }
    return async (shop) => {
      await (given === undefined ? closeShop(shop) : closeProduct(shop, given))
      return { data: {}, lines: [] }
    }
  },
}

const sale: Command = {
  summary: 'sandbox: somebody reviews the product, somebody else buys it through the link',
  help: help(
    'demo-sale [--product <name>]',
    'On the sandbox only: a made-up agent reviews the product, a made-up buyer pays through its link.',
    `  --product <name>       which product, where the folder has several: its name or id
  --review <json>        the text of the review, where the category asks for measurements`,
  ),
  options: { product: string, review: string },
  prepare: (values) => async (shop) => {
    const sold = await demoSale(shop, { product: text(values, 'product'), review: text(values, 'review') })
    const { split } = sold
    const row = (who: string, amount: string, note = '') =>
      `  ${who.padEnd(22)}${amount} USDC${note && `  ${note}`}`
    const lines = [
      '',
      `Sold for ${split.price} USDC, transaction ${sold.transaction}`,
      row('you', split.merchant),
      row('reviewer', split.reviewer, 'at once'),
      row('reviewer', split.heldBack, `held back in escrow ${sold.escrowId}`),
      ...(split.cashback === '0' ? [] : [row('buyer', split.cashback, 'cashback, in escrow')]),
      row('fee', split.fee),
      '',
      `Review ${sold.reviewId}, its ref link: ${sold.refLink}`,
    ]
    return { data: sold, lines }
  },
}

export const COMMANDS: Record<string, Command> = {
  open,
  list,
  describe,
  registration,
  stats,
  close,
  'demo-sale': sale,
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`

function parseProductId(value: string) {
  try {
    return ProductId.parse(value)
  } catch (error) {
    throw error instanceof ProtocolError ? new ShopError(`--product-id: ${error.message}`) : error
  }
}
