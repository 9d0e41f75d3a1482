// What a caller would rather have (RFC 9110, 12.5.1).

interface Range {
  type: string
  quality: number
}

/** Whether a page is wanted more than JSON. Whoever does not say gets JSON: programs often say nothing. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(parseRange)
  return qualityOf('text/html', ranges) > qualityOf('application/json', ranges)
}

/** The most specific range that covers a type tells its quality. */
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
