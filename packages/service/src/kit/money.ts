// Money in answers has one unit, and every field says so.
import { wholeNumber } from './fields.ts'

export const baseUnits = (about?: string) =>
  wholeNumber.meta({ about: about ? `${about}, in USDC base units.` : 'In USDC base units.' })
