// Palette: colours, and pictures as SVG.
import { createHash } from 'node:crypto'
import type { Ask } from '../ask.ts'
import { computed } from '../good.ts'
import { RequestError } from '../request-error.ts'

const SCHEMES = {
  complementary: [0, 180],
  triadic: [0, 120, 240],
  analogous: [-30, 0, 30],
  tetradic: [0, 90, 180, 270],
} as const
/** Of a digit in the left half of an EAN-13 barcode, odd parity. */
const EAN_ODD = [
  '0001101',
  '0011001',
  '0010011',
  '0111101',
  '0100011',
  '0110001',
  '0101111',
  '0111011',
  '0110111',
  '0001011',
]
const EAN_PARITY = [
  'OOOOOO',
  'OOEOEE',
  'OOEEOE',
  'OOEEEO',
  'OEOOEE',
  'OEEOOE',
  'OEEEOO',
  'OEOEOE',
  'OEOEEO',
  'OEEOEO',
]

type Rgb = [red: number, green: number, blue: number]

function colourOf(ask: Ask, name: string): Rgb {
  const [, hex] = /^#?([0-9a-f]{6})$/i.exec(ask.text(name).trim()) ?? []
  if (!hex) throw new RequestError(`${name} must be a colour like 3366cc`)
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb
}

function hueOf([red, green, blue]: Rgb): { hue: number; saturation: number; lightness: number } {
  const [r, g, b] = [red / 255, green / 255, blue / 255]
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)]
  const [spread, lightness] = [most - least, (most + least) / 2]
  if (spread === 0) return { hue: 0, saturation: 0, lightness }
  const hue = most === r ? (g - b) / spread : most === g ? (b - r) / spread + 2 : (r - g) / spread + 4
  return { hue: hue * 60, saturation: spread / (1 - Math.abs(2 * lightness - 1)), lightness }
}

function hexOf({ hue, saturation, lightness }: ReturnType<typeof hueOf>): string {
  const channel = (offset: number) => {
    const k = (((offset + hue / 30) % 12) + 12) % 12
    const value =
      lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${channel(0)}${channel(8)}${channel(4)}`
}

/** As WCAG defines it. */
function luminanceOf(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const svg = (width: number, height: number, inner: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">${inner}</svg>`

export const IMAGES = [
  computed(
    {
      path: '/palette/scheme',
      name: 'Colour schemes',
      description: 'Colours that go with a colour: complementary, triadic, analogous or tetradic.',
      category: 'images',
      price: '0.02',
      commissionBps: 1_500,
      example: '?colour=3366cc&scheme=triadic',
    },
    (ask) => {
      const scheme = ask.choice('scheme', Object.keys(SCHEMES) as (keyof typeof SCHEMES)[], 'complementary')
      const base = hueOf(colourOf(ask, 'colour'))
      return { scheme, colours: SCHEMES[scheme].map((turn) => hexOf({ ...base, hue: base.hue + turn })) }
    },
  ),
  computed(
    {
      path: '/palette/contrast',
      name: 'Contrast check',
      description: 'The contrast of text on a background, and which levels of WCAG 2 it reaches.',
      category: 'images',
      price: '0.02',
      commissionBps: 1_500,
      example: '?text=767676&background=ffffff',
    },
    (ask) => {
      const [a, b] = [luminanceOf(colourOf(ask, 'text')), luminanceOf(colourOf(ask, 'background'))]
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
      return { ratio: Number(ratio.toFixed(2)), aa: ratio >= 4.5, aa_large: ratio >= 3, aaa: ratio >= 7 }
    },
  ),
  computed(
    {
      path: '/palette/barcode',
      name: 'EAN-13 barcode',
      description: 'The barcode of a product number as SVG. Send 12 digits and get the check digit, too.',
      category: 'images',
      price: '0.05',
      commissionBps: 2_000,
      example: '?number=400638133393',
    },
    (ask) => {
      const digits = [...ask.text('number')].map(Number)
      if (digits.length !== 12 || digits.some(Number.isNaN))
        throw new RequestError('number must have 12 digits')
      const sum = digits.reduce((total, digit, at) => total + digit * (at % 2 === 0 ? 1 : 3), 0)
      const all = [...digits, (10 - (sum % 10)) % 10]
      return { number: all.join(''), svg: barcodeOf(all) }
    },
  ),
  computed(
    {
      path: '/palette/identicon',
      name: 'Identicon',
      description: 'A picture of five by five fields that stands for a name, as SVG, the same every time.',
      category: 'images',
      price: '0.80',
      commissionBps: 3_000,
      oneOff: true,
      example: '?name=agent-7',
    },
    (ask) => {
      const hash = createHash('sha256').update(ask.text('name')).digest()
      const fields = Array.from({ length: 25 }, (_, at) => [at % 5, Math.floor(at / 5)] as const)
      const isFilled = ([x, y]: readonly [number, number]) =>
        (hash[Math.min(x, 4 - x) * 5 + y] ?? 0) % 2 === 0
      const colour = `#${hash.subarray(29).toString('hex')}`
      const squares = fields.filter(isFilled).map(([x, y]) => `<path d="M${x} ${y}h1v1h-1z"/>`)
      return { colour, svg: svg(5, 5, `<g fill="${colour}">${squares.join('')}</g>`) }
    },
  ),
  computed(
    {
      path: '/palette/sparkline',
      name: 'Sparkline',
      description: 'A small line chart of up to 200 numbers as SVG.',
      category: 'images',
      price: '0.03',
      commissionBps: 2_000,
      example: '?values=3,5,4,8,6,9',
    },
    (ask) => {
      const values = ask.numbers('values', 200)
      const [least, most] = [Math.min(...values), Math.max(...values)]
      const points = values.map((value, at) => {
        const height = most === least ? 10 : 20 - ((value - least) / (most - least)) * 20
        return `${at * 4},${Number(height.toFixed(2))}`
      })
      const line = `<polyline points="${points.join(' ')}" fill="none" stroke="currentColor"/>`
      return { least, most, svg: svg(Math.max(values.length - 1, 1) * 4, 20, line) }
    },
  ),
]

function barcodeOf([first = 0, ...digits]: number[]): string {
  const odd = (digit: number) => EAN_ODD[digit] ?? ''
  const inverse = (bits: string) => bits.replace(/./g, (bit) => (bit === '1' ? '0' : '1'))
  const even = (digit: number) => [...inverse(odd(digit))].reverse().join('')
  const parity = EAN_PARITY[first] ?? ''
  const left = digits.slice(0, 6).map((digit, at) => (parity[at] === 'O' ? odd(digit) : even(digit)))
  const right = digits.slice(6).map((digit) => inverse(odd(digit)))
  const bits = `101${left.join('')}01010${right.join('')}101`
  const bars = [...bits].flatMap((bit, x) => (bit === '1' ? [`M${x} 0h1v30h-1z`] : []))
  return svg(bits.length, 30, `<path d="${bars.join('')}"/>`)
}
