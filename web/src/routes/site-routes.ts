import type { SiteRoute } from '../app/route.ts'
import { browseRoutes } from './browse.routes.tsx'
import { dashboardRoutes } from './dashboard.routes.tsx'
import { homeRoutes } from './home.routes.tsx'
import { marketRoutes } from './market.routes.ts'
import { newRunRoutes } from './new-run.routes.tsx'
import { operatorRoutes } from './operator.routes.tsx'
import { packageRoutes } from './package.routes.tsx'
import { pictureRoutes } from './pictures.routes.ts'
import { reviewRoutes } from './reviews.routes.tsx'
import { runAgentRoutes } from './run-agent.routes.tsx'
import { runRoutes } from './runs.routes.tsx'
import { sessionRoutes } from './session.routes.tsx'
import { settingsRoutes } from './settings.routes.tsx'
import { themeRoutes } from './theme.routes.ts'
import { tokenRoutes } from './tokens.routes.tsx'
import { trialRoutes } from './trial.routes.tsx'

/** Every route of the site. A new area adds its list here. */
export const siteRoutes: readonly SiteRoute[] = [
  ...homeRoutes,
  ...browseRoutes,
  ...packageRoutes,
  ...reviewRoutes,
  ...trialRoutes,
  ...pictureRoutes,
  ...newRunRoutes,
  ...runRoutes,
  ...runAgentRoutes,
  ...dashboardRoutes,
  ...settingsRoutes,
  ...tokenRoutes,
  ...operatorRoutes,
  ...marketRoutes,
  ...sessionRoutes,
  ...themeRoutes,
]
