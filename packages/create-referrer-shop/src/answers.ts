// What a shop is made of: told by flags, by an earlier run in the same folder, by answers, or by default.
import { isCancel, select, text } from '@clack/prompts'
import { NETWORKS, networkNamed } from '@referrer/client/chain'
import { parseName, parsePercent, parsePrice, parseWebUrl, ShopError, slugOf } from '@referrer/merchant/shop'
import { FRAMEWORKS } from './frameworks.ts'

/** As they are kept in the project file. */
export interface Answers {
  name: string
  /** USDC. */
  price: string
  /** Percent. */
  commission: string
  framework: string
  network: string
  market?: string
  rpc?: string
}

export type Given = { [name in keyof Answers]?: string | undefined }

interface Question {
  key: keyof Answers
  message: string
  default(known: Given): string | undefined
  /** Throws a `ShopError`. */
  check(value: string): unknown
  choices?: string[]
}

function oneOf(what: string, choices: string[], other?: string) {
  const all = choices.join(', ') + (other === undefined ? '' : ` or ${other}`)
  return (value: string) => {
    if (!choices.includes(value)) throw new ShopError(`${what} must be ${all}, not "${value}"`)
  }
}

const networks = Object.keys(NETWORKS)
const checkNetwork = oneOf('--network', networks, 'the id of another chain')
const frameworks = Object.keys(FRAMEWORKS)

const QUESTIONS: Question[] = [
  {
    key: 'name',
    message: 'What do you sell?',
    default: () => undefined,
    check: (value) => slugOf(parseName(value)),
  },
  { key: 'price', message: 'For how many USDC?', default: () => '0.05', check: parsePrice },
  {
    key: 'commission',
    message: 'Which percentage goes to whoever brings a buyer?',
    default: () => '10',
    check: parsePercent,
  },
  {
    key: 'framework',
    message: 'Which framework?',
    default: () => 'hono',
    check: oneOf('--framework', frameworks),
    choices: frameworks,
  },
  {
    key: 'network',
    message: 'On which network?',
    default: () => 'sandbox',
    check: (value) => networkNamed(value) ?? checkNetwork(value),
    choices: networks,
  },
  {
    key: 'market',
    message: 'Where is the market?',
    default: ({ network = '' }) => networkNamed(network)?.marketUrl,
    check: (value) => parseWebUrl(value, '--market'),
  },
  {
    key: 'rpc',
    message: 'A node of the chain?',
    default: ({ network = '' }) => networkNamed(network)?.rpcUrl,
    check: (value) => parseWebUrl(value, '--rpc'),
  },
]

/** These are asked for only where nothing is known. */
const RARELY_ASKED = new Set<keyof Answers>(['market', 'rpc'])

export async function collectAnswers(
  given: Given,
  { earlier, defaultName, mayAsk }: { earlier: Given; defaultName: string; mayAsk: boolean },
): Promise<Answers> {
  for (const { key, check } of QUESTIONS) {
    const [value, before] = [given[key], earlier[key]]
    if (before !== undefined) check(before)
    if (value === undefined) continue
    check(value)
    // A node can be gone for good.
    if (before !== undefined && before !== value && key !== 'rpc') {
      throw new ShopError(
        `the shop in this folder was begun with --${key} ${before}, not ${value}: leave the flag out, and change it afterwards`,
      )
    }
  }
  const known: Given = {
    ...earlier,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  }
  for (const question of QUESTIONS) {
    const { key } = question
    if (known[key] !== undefined) continue
    const usual = key === 'name' ? defaultName : question.default(known)
    const isAsked = mayAsk && !(RARELY_ASKED.has(key) && usual !== undefined)
    known[key] = isAsked ? await ask(question, usual) : usual
    if (known[key] === undefined) throw new ShopError(`say --${key}`)
    question.check(known[key])
  }
  return known as Answers
}

async function ask({ message, check, choices }: Question, usual: string | undefined): Promise<string> {
  const answer = choices
    ? await select({
        message,
        options: choices.map((value) => ({ value, label: value })),
        ...(usual !== undefined && { initialValue: usual }),
      })
    : await text({
        message,
        ...(usual !== undefined && { defaultValue: usual, placeholder: usual }),
        validate: (value) => problemOf(() => check(value || usual || '')),
      })
  if (isCancel(answer)) throw new ShopError('nothing was made')
  return answer
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof ShopError) return error.message
    throw error
  }
}
