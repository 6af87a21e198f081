import { balanceRoutes } from './balance.routes.tsx'
import { checkoutRoutes } from './checkout.routes.tsx'
import { earningsRoutes } from './earnings.routes.tsx'
import { orderRoutes } from './orders.routes.tsx'
import { priceRoutes } from './price.routes.tsx'
import { spendingRoutes } from './spending.routes.tsx'

/** Buying and selling. */
export const marketRoutes = [
  ...checkoutRoutes,
  ...orderRoutes,
  ...balanceRoutes,
  ...earningsRoutes,
  ...priceRoutes,
  ...spendingRoutes,
]
