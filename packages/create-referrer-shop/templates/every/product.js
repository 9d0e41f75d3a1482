// The one file to edit: what you sell, and for how much.

/** USDC for one purchase. The chain knows the lowest price: to go below it, run npx referrer-merchant list --price <USDC> first. */
export const price = '{{price}}'

/** What buyers read in the offer. */
export const description = '{{description}}'

/**
 * Called when the money has moved. What it returns is sent to the buyer as JSON.
 * @param {Request} request What the buyer sent, such as ?topic=cats
 * @param {import('@referrer/merchant').Sale} sale Who paid how much; its id is the same when a sale is served again
 */
export function serve(request, sale) {
  const topic = new URL(request.url).searchParams.get('topic') ?? 'nothing'
  return { product: description, topic, sale: sale.id }
}
