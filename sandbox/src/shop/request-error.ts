/** What a buyer asks for cannot be made. Told before any money moves. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
}
