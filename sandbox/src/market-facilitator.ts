import { type Facilitator, readConfig, startFacilitator } from '@referrer/facilitator'
import { accountOf, environmentOf, type World, whenReady } from './program.ts'
import { FACILITATOR_SETTINGS } from './settings.ts'

/** Asks the service whose ref links count, so the service must run. */
export async function startMarketFacilitator(
  world: World,
  options: { port: number; databaseUrl: string; marketUrl: string },
): Promise<Facilitator> {
  const config = readConfig({
    ...environmentOf(world, options),
    RELAYER_PRIVATE_KEYS: accountOf(world, 'settler').privateKey,
    MARKET_URL: options.marketUrl,
    ...FACILITATOR_SETTINGS,
  })
  return whenReady('facilitator', await startFacilitator(config))
}
