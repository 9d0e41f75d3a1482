import { time } from '../../kit/json-values.ts'
import type { RegistrationShown } from './shapes.ts'
import type { FileColumn } from './store.ts'

/** What is shown of a registration file beside an agent or a merchant: nothing when none was read. */
export function shownFile({ registration }: FileColumn): { registration?: RegistrationShown } {
  if (!registration) return {}
  const { file, read_at } = registration
  // Versions before this one did not store the moment in the file.
  return { registration: { ...file, read_at: file.read_at ?? time(new Date(read_at)) } }
}
