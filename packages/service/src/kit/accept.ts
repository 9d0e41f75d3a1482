// Content negotiation by the Accept header (RFC 9110, 12.5.1).

interface Range {
  type: string
  quality: number
}

/** Whether the caller prefers HTML to JSON. Without a preference the answer is JSON, because programs often send no Accept header. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(parseRange)
  return qualityOf('text/html', ranges) > qualityOf('application/json', ranges)
}

/** The quality of a type comes from the most specific range that covers it. */
function qualityOf(type: string, ranges: Range[]): number {
  for (const covering of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const range = ranges.find((each) => each.type === covering)
    if (range) return range.quality
  }
  return 0
}

function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice(2))
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}
