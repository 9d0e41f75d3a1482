/** Something that went wrong here and not at the market; `next` says what a person can do. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly next: string

  constructor(message: string, next: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.next = next
  }
}
