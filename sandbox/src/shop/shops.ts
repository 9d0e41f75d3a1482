// The shops of the demo market. One server has them all; each has a merchant of its own.
import type { Good } from './good.ts'
import { CODE } from './goods/code.ts'
import { CORNER } from './goods/corner.ts'
import { DEMO } from './goods/demo.ts'
import { FINANCE } from './goods/finance.ts'
import { GEO } from './goods/geo.ts'
import { IMAGES } from './goods/images.ts'
import { MATHS } from './goods/maths.ts'
import { TEXT } from './goods/text.ts'

export interface ShopFront {
  /** Where its page is on the shops' server. */
  path: string
  name: string
  description: string
  goods: readonly Good[]
}

/** The first is the one of account `merchant`. */
export const SHOPS: readonly ShopFront[] = [
  {
    path: '/',
    name: 'Demo shop',
    description: 'The demo shop of the sandbox: small things for agents to buy.',
    goods: DEMO,
  },
  {
    path: '/meridian',
    name: 'Meridian',
    description: 'Places, distances, clocks and calendars.',
    goods: GEO,
  },
  { path: '/quill', name: 'Quill', description: 'Counts, checks and reshapes words.', goods: TEXT },
  { path: '/lathe', name: 'Lathe', description: 'Small exact tools for programs.', goods: CODE },
  {
    path: '/ledger',
    name: 'Ledger',
    description: 'Sums of money, and numbers with check digits.',
    goods: FINANCE,
  },
  { path: '/palette', name: 'Palette', description: 'Colours, and pictures as SVG.', goods: IMAGES },
  { path: '/abacus', name: 'Abacus', description: 'Numbers: counted, factored, written out.', goods: MATHS },
  { path: '/corner', name: 'Corner Store', description: 'Cheap answers to common questions.', goods: CORNER },
]

export const GOODS: readonly Good[] = SHOPS.flatMap(({ goods }) => goods)
