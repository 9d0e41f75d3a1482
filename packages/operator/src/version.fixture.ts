// A version of the service: this one, with the migrations that are in the directory of SERVICE_MIGRATIONS.
import { pathToFileURL } from 'node:url'
import { chainMigrations } from '@referrer/chain'
import { failStart, runUntilSignal } from '@referrer/process'
import { readConfig, serviceMigrations, startService } from '@referrer/service'

const directory = pathToFileURL(`${process.env.SERVICE_MIGRATIONS}/`)
const migrations = [chainMigrations, { ...serviceMigrations, directory }]
const start = (signal: AbortSignal) => startService(readConfig(process.env), { migrations, signal })
const { url } = await runUntilSignal(start).catch(failStart)
process.stdout.write(`listening on ${url}\n`)
