/** Says what went wrong, and why: an error may carry another one as its cause. */
export function complain(error: unknown): void {
  for (let said = error; said !== undefined; said = said instanceof Error ? said.cause : undefined) {
    console.error(said instanceof Error ? said.message : said)
  }
}
