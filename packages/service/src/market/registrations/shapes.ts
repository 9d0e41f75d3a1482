import { z } from 'zod'
import { momentShown } from '../../kit/fields.ts'

/** Part of the answer for an agent or a merchant. */
export const RegistrationShown = z
  .object({
    name: z.string(),
    description: z.string(),
    image: z.string().optional(),
    services: z.array(z.object({ name: z.string(), endpoint: z.string() })),
    active: z.boolean().optional(),
    x402_support: z.boolean().optional(),
    names_agent: z
      .boolean()
      .meta({ about: 'Whether the file names this identity; else it may be about another one.' }),
    read_at: momentShown,
  })
  .meta({
    id: 'Registration',
    about:
      'What the ERC-8004 registration file at the URI of the identity says, shortened; left out when none could be read. It is text of strangers, and nothing is checked or counted.',
  })
export type RegistrationShown = z.output<typeof RegistrationShown>

/** What is stored of a file. */
export type StoredFile = Omit<RegistrationShown, 'read_at'> & Partial<Pick<RegistrationShown, 'read_at'>>
