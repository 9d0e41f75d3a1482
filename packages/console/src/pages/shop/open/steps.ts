// Which steps of opening a shop are done: all of it is read from the chain and the market, nothing is remembered.
export type StepName = 'identity' | 'open' | 'list' | 'serve' | 'describe' | 'sale'

export interface Facts {
  /** The wallet owns the identity that was chosen. */
  isOwned: boolean
  /** The shop is open on the chain. */
  isActive: boolean
  /** The market has recorded it. */
  isKnown: boolean
  /** The product that was chosen is listed and open on the chain. */
  isListed: boolean
  /** The market reached its endpoint and found nothing wrong. */
  isReady: boolean
  /** The market shows its name and where it is bought. */
  isDescribed: boolean
  hasSale: boolean
}

export interface Step {
  name: StepName
  isDone: boolean
  /** What it rests on is done. */
  isPossible: boolean
}

/** In the order in which they are shown. The endpoint comes before the description, because the market reads its price when it is described. */
export function stepsOf(facts: Facts): Step[] {
  const isOpen = facts.isOwned && facts.isActive && facts.isKnown
  const isListed = isOpen && facts.isListed
  const isDescribed = isListed && facts.isDescribed
  return [
    { name: 'identity', isDone: facts.isOwned, isPossible: true },
    { name: 'open', isDone: isOpen, isPossible: facts.isOwned },
    { name: 'list', isDone: isListed, isPossible: isOpen },
    { name: 'serve', isDone: isListed && facts.isReady, isPossible: isListed },
    { name: 'describe', isDone: isDescribed, isPossible: isListed },
    { name: 'sale', isDone: isDescribed && facts.hasSale, isPossible: isDescribed },
  ]
}

/** What to do next; undefined when all is done. */
export const nextStep = (steps: Step[]): StepName | undefined =>
  steps.find(({ isDone, isPossible }) => isPossible && !isDone)?.name
