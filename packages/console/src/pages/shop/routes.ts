import { openShopRoute } from './open/route.ts'
import { shopProductRoute } from './product/route.ts'
import { salesRoute } from './sales/route.ts'
import { shopRoute } from './shop/route.ts'
import { shopsRoute } from './shops/route.ts'

export const shopRoutes = [shopsRoute, openShopRoute, shopRoute, shopProductRoute, salesRoute] as const
