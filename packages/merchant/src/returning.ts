// Serves a buyer again, who comes back with a signature for what it bought.
import type { PublicClient } from 'viem'
import { jsonAnswer, retryLater, withSale } from './answers.ts'
import type { Settings } from './config.ts'
import {
  type Busy,
  createVerifier,
  findSale,
  type Refused,
  readHeader,
  recordSale,
  refused,
  SIGN_IN_HEADER,
} from './extensions/sign-in.ts'
import { type Offer, resourceUrl } from './offer.ts'
import type { Sale } from './sale.ts'

const BUSY =
  'this wallet cannot be asked for its signature right now; send the same signature again, and do not pay again'
const LATER = 'what you bought cannot be looked up right now; sign in again, and do not pay again'

/** Reads what the request asks for before it is served, and keeps afterwards that it was bought. Never throws: the sale is made. */
export function purchaseOf(settings: Settings, request: Request): (sale: Sale) => Promise<void> {
  const { extensions, tell } = settings
  const { signIn } = extensions
  try {
    const resource = signIn?.resourceOf(request)
    if (!signIn || resource === undefined) return async () => {}
    return async (sale) => {
      try {
        if (sale.payer) await recordSale(signIn, { ...settings, payer: sale.payer, resource }, sale)
      } catch (error) {
        tell({ type: 'storage_failed', error })
      }
    }
  } catch (error) {
    tell({ type: 'storage_failed', error })
    return async () => {}
  }
}

export function createReturning(settings: Settings, client: PublicClient) {
  const { extensions, network, payments, now, tell } = settings
  const { signIn } = extensions
  const isSigned = createVerifier(client, now)

  /** Undefined where the request does not sign in. */
  return async function comeBack(request: Request, offer: Offer): Promise<Response | undefined> {
    const header = request.headers.get(SIGN_IN_HEADER)
    if (!signIn || header === null || !signIn.isOpenTo(request)) return undefined
    let found: Sale | Refused | Busy
    try {
      found = await saleFor(request, header, offer)
    } catch (error) {
      tell({ type: 'storage_failed', error })
      return retryLater(503, LATER)
    }
    if ('id' in found) return serveAgain(request, found)
    if ('seconds' in found) {
      tell({ type: 'sign_in_refused', ...refused('verifier_error', BUSY) })
      return retryLater(503, BUSY, { seconds: found.seconds })
    }
    const { reason, message } = found
    tell({ type: 'sign_in_refused', reason, message })
    return offer.answerTo(`${reason}: ${message}`)
  }

  /** The cheapest checks come first: a node is asked only about addresses that have bought this. */
  async function saleFor(request: Request, header: string, offer: Offer): Promise<Sale | Refused | Busy> {
    if (!signIn) throw new Error('nobody can sign in here')
    const claimed = readHeader(signIn, { uri: resourceUrl(settings, request.url), network }, header, now())
    if ('reason' in claimed) return claimed
    const resource = signIn.resourceOf(request)
    const sale =
      resource === undefined
        ? undefined
        : await findSale(signIn, { ...settings, payer: claimed.address, resource })
    if (!sale)
      return { reason: 'not_bought', message: `${claimed.address} has not bought this here: pay for it` }
    if (!signIn.covers(sale.amount, offer.amount))
      return { reason: 'not_bought', message: 'this costs more than what you bought here: pay for it' }
    const verdict = await isSigned(claimed)
    if (typeof verdict === 'object') return verdict
    if (!verdict) return refused('signature', 'the signature is not that of the address')
    const nonce = `referrer:siwx:${network}:${claimed.address}:${claimed.nonce}`
    const isFirst = await payments.note(nonce, undefined, 'used', claimed.until)
    return isFirst ? sale : refused('nonce', 'this signature was used already: sign a new 402')
  }

  async function serveAgain(request: Request, sale: Sale): Promise<Response> {
    try {
      const response = await withSale(await settings.serve(request, sale), sale)
      tell({ type: 'returned', sale })
      return response
    } catch (error) {
      tell({ type: 'serve_failed', sale, error })
      return jsonAnswer(500, { error: 'serving failed: sign in again, and do not pay again' })
    }
  }
}
