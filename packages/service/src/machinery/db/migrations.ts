import { chainMigrations } from '@referrer/chain'
import type { MigrationSet } from '@referrer/database'

export const serviceMigrations: MigrationSet = {
  name: 'service',
  directory: new URL('../../../migrations/', import.meta.url),
}

/** Everything that the service's database consists of, in order. */
export const migrations = [chainMigrations, serviceMigrations]
