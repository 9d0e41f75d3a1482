// All amounts of money in answers are USDC base units, and the description of each field says so.
import { wholeNumber } from './fields.ts'

export const baseUnits = (about?: string) =>
  wholeNumber.meta({ about: about ? `${about}, in USDC base units.` : 'In USDC base units.' })
