import { themeRoutes } from '../layout/theme.tsx'
import { badgeRoutes } from '../pages/badges.ts'
import { browseRoutes } from '../pages/browse.tsx'
import { dashboardRoutes } from '../pages/dashboard.tsx'
import { apiReferenceRoutes } from '../pages/docs/api-reference.tsx'
import { docsRoutes } from '../pages/docs/docs.tsx'
import { feedRoutes } from '../pages/feeds.ts'
import { homeRoutes } from '../pages/home.tsx'
import { balanceRoutes } from '../pages/market/balance.tsx'
import { checkoutRoutes } from '../pages/market/checkout.tsx'
import { earningsRoutes } from '../pages/market/earnings.tsx'
import { orderRoutes } from '../pages/market/order.tsx'
import { orderListRoutes } from '../pages/market/orders.tsx'
import { priceRoutes } from '../pages/market/price.tsx'
import { spendingRoutes } from '../pages/market/spending.tsx'
import { notificationRoutes } from '../pages/notifications.tsx'
import { operatorAccountRoutes } from '../pages/operator/accounts.tsx'
import { auditRoutes } from '../pages/operator/audit.tsx'
import { moderationRoutes } from '../pages/operator/moderation.tsx'
import { operatorRoutes } from '../pages/operator/status.tsx'
import { analyticsRoutes } from '../pages/package/analytics.tsx'
import { appealRoutes } from '../pages/package/appeal.tsx'
import { compareRoutes } from '../pages/package/compare.tsx'
import { compareAgentRoutes } from '../pages/package/compare-agents.tsx'
import { fileRoutes } from '../pages/package/files.tsx'
import { playRoutes } from '../pages/package/play.tsx'
import { reportRoutes } from '../pages/package/report.tsx'
import { reviewRoutes } from '../pages/package/reviews.tsx'
import { packageTabRoutes } from '../pages/package/tabs.tsx'
import { trialRoutes } from '../pages/package/trial.tsx'
import { packageRoutes } from '../pages/package/version.tsx'
import { pictureRoutes } from '../pages/pictures.ts'
import { publishGuideRoutes } from '../pages/publish-guide.tsx'
import { compareRunRoutes } from '../pages/runs/compare.tsx'
import { newRunRoutes } from '../pages/runs/new-run.tsx'
import { runAgentRoutes, runRoutes, shareRoutes } from '../pages/runs/run.tsx'
import { runListRoutes } from '../pages/runs/runs.tsx'
import { sharedRunRoutes } from '../pages/runs/shared-run.tsx'
import { sweepRoutes } from '../pages/runs/sweep.tsx'
import { accountRoutes } from '../pages/settings/account.tsx'
import { notificationSettingRoutes } from '../pages/settings/notifications.tsx'
import { organizationRoutes } from '../pages/settings/organizations.tsx'
import { securityRoutes } from '../pages/settings/security.tsx'
import { singleSignOnRoutes } from '../pages/settings/single-sign-on.tsx'
import { tokenRoutes } from '../pages/settings/tokens.tsx'
import { webhookRoutes } from '../pages/settings/webhooks.tsx'
import { setupRoutes } from '../pages/setup.tsx'
import { signInRoutes } from '../pages/sign-in.tsx'
import { siteFileRoutes } from '../pages/site-files.ts'
import type { SiteRoute } from './route.ts'

/** Every route of the site. A page declares its own routes; a new page adds its list here. */
export const siteRoutes: readonly SiteRoute[] = [
  ...homeRoutes,
  ...browseRoutes,
  ...packageRoutes,
  ...packageTabRoutes,
  ...compareAgentRoutes,
  ...feedRoutes,
  ...fileRoutes,
  ...compareRoutes,
  ...reviewRoutes,
  ...reportRoutes,
  ...appealRoutes,
  ...trialRoutes,
  ...playRoutes,
  ...pictureRoutes,
  ...badgeRoutes,
  ...newRunRoutes,
  ...runListRoutes,
  ...compareRunRoutes,
  ...sweepRoutes,
  ...sharedRunRoutes,
  ...shareRoutes,
  ...runRoutes,
  ...runAgentRoutes,
  ...dashboardRoutes,
  ...notificationRoutes,
  ...publishGuideRoutes,
  ...accountRoutes,
  ...securityRoutes,
  ...organizationRoutes,
  ...singleSignOnRoutes,
  ...tokenRoutes,
  ...notificationSettingRoutes,
  ...webhookRoutes,
  ...setupRoutes,
  ...operatorRoutes,
  ...auditRoutes,
  ...operatorAccountRoutes,
  ...moderationRoutes,
  ...checkoutRoutes,
  ...orderListRoutes,
  ...orderRoutes,
  ...balanceRoutes,
  ...earningsRoutes,
  ...analyticsRoutes,
  ...priceRoutes,
  ...spendingRoutes,
  ...signInRoutes,
  ...apiReferenceRoutes,
  ...docsRoutes,
  ...siteFileRoutes,
  ...themeRoutes,
]
