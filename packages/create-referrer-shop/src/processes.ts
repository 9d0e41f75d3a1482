// npm, and the shop itself for a moment, so that the market can look at it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ShopError } from '@referrer/merchant/shop'

export async function npmInstall(directory: string): Promise<void> {
  const child = spawn('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  const said = collect(child)
  const [code] = await once(child, 'close')
  if (code !== 0)
    throw new ShopError(`npm install failed: ${lastLine(said())}. Correct it, then run this again`)
}

const TRY_MS = 100
const LONGEST_MS = 60_000

/** Runs the shop while the work is done, unless it runs already. */
export async function whileServing<T>(
  { directory, args, url }: { directory: string; args: string[]; url: string },
  work: () => Promise<T>,
): Promise<T> {
  if (await answers(url)) return work()
  // Node prefers what the shell has set to the file `.env`, which says where this shop is and what its key is.
  const { PORT: _port, HOST: _host, MERCHANT_SIGNING_KEY: _key, ...env } = process.env
  const child = spawn(process.execPath, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = collect(child)
  const ended = once(child, 'close')
  try {
    for (const deadline = Date.now() + LONGEST_MS; !(await answers(url)); ) {
      if (child.exitCode !== null) throw new ShopError(`the shop does not start: ${reasonIn(said())}`)
      if (Date.now() > deadline)
        throw new ShopError(`the shop does not answer at ${url}: ${lastLine(said())}`)
      await new Promise((resolve) => setTimeout(resolve, TRY_MS))
    }
    return await work()
  } finally {
    child.kill()
    await ended
  }
}

/** Any answer of a shop counts: it is asked without a payment. */
const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(LONGEST_MS) }).then(
    ({ status }) => status === 402,
    () => false,
  )

function collect({ stdout, stderr }: { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream }) {
  let text = ''
  for (const stream of [stdout, stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk
    })
  }
  return () => text
}

const lastLine = (text: string) => text.trim().split('\n').at(-1) ?? ''
const reasonIn = (text: string) => /^\w*Error.*$/m.exec(text)?.[0] ?? lastLine(text)
