import { chainMigrations } from '@referrer/chain'
import type { MigrationSet } from '@referrer/database'
import { limitsMigrations } from '@referrer/process'

export const serviceMigrations: MigrationSet = {
  name: 'service',
  directory: new URL('../../../migrations/', import.meta.url),
}

/** Everything that the service's database consists of, in order. */
export const migrations = [chainMigrations, limitsMigrations, serviceMigrations]
