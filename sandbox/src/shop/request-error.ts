/** A request that the shop cannot answer. The buyer is told before any money moves. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
}
