import { themeRoutes } from '../layout/theme.tsx'
import { browseRoutes } from '../pages/browse.tsx'
import { dashboardRoutes } from '../pages/dashboard.tsx'
import { homeRoutes } from '../pages/home.tsx'
import { balanceRoutes } from '../pages/market/balance.tsx'
import { checkoutRoutes } from '../pages/market/checkout.tsx'
import { earningsRoutes } from '../pages/market/earnings.tsx'
import { orderRoutes } from '../pages/market/order.tsx'
import { orderListRoutes } from '../pages/market/orders.tsx'
import { priceRoutes } from '../pages/market/price.tsx'
import { spendingRoutes } from '../pages/market/spending.tsx'
import { operatorAccountRoutes } from '../pages/operator/accounts.tsx'
import { moderationRoutes } from '../pages/operator/moderation.tsx'
import { operatorRoutes } from '../pages/operator/status.tsx'
import { reportRoutes } from '../pages/package/report.tsx'
import { reviewRoutes } from '../pages/package/reviews.tsx'
import { packageTabRoutes } from '../pages/package/tabs.tsx'
import { trialRoutes } from '../pages/package/trial.tsx'
import { packageRoutes } from '../pages/package/version.tsx'
import { pictureRoutes } from '../pages/pictures.ts'
import { publishGuideRoutes } from '../pages/publish-guide.tsx'
import { newRunRoutes } from '../pages/runs/new-run.tsx'
import { runAgentRoutes, runRoutes } from '../pages/runs/run.tsx'
import { runListRoutes } from '../pages/runs/runs.tsx'
import { accountRoutes } from '../pages/settings/account.tsx'
import { organizationRoutes } from '../pages/settings/organizations.tsx'
import { securityRoutes } from '../pages/settings/security.tsx'
import { singleSignOnRoutes } from '../pages/settings/single-sign-on.tsx'
import { tokenRoutes } from '../pages/settings/tokens.tsx'
import { setupRoutes } from '../pages/setup.tsx'
import { signInRoutes } from '../pages/sign-in.tsx'
import type { SiteRoute } from './route.ts'

/** Every route of the site. A page declares its own routes; a new page adds its list here. */
export const siteRoutes: readonly SiteRoute[] = [
  ...homeRoutes,
  ...browseRoutes,
  ...packageRoutes,
  ...packageTabRoutes,
  ...reviewRoutes,
  ...reportRoutes,
  ...trialRoutes,
  ...pictureRoutes,
  ...newRunRoutes,
  ...runListRoutes,
  ...runRoutes,
  ...runAgentRoutes,
  ...dashboardRoutes,
  ...publishGuideRoutes,
  ...accountRoutes,
  ...securityRoutes,
  ...organizationRoutes,
  ...singleSignOnRoutes,
  ...tokenRoutes,
  ...setupRoutes,
  ...operatorRoutes,
  ...operatorAccountRoutes,
  ...moderationRoutes,
  ...checkoutRoutes,
  ...orderListRoutes,
  ...orderRoutes,
  ...balanceRoutes,
  ...earningsRoutes,
  ...priceRoutes,
  ...spendingRoutes,
  ...signInRoutes,
  ...themeRoutes,
]
