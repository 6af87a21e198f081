import type { SiteRoute } from '../app/route.ts'
import { browseRoutes } from './browse.routes.tsx'
import { homeRoutes } from './home.routes.tsx'
import { pictureRoutes } from './pictures.routes.ts'
import { sessionRoutes } from './session.routes.tsx'
import { themeRoutes } from './theme.routes.ts'

/** Every route of the site. A new area adds its list here. */
export const siteRoutes: readonly SiteRoute[] = [
  ...homeRoutes,
  ...browseRoutes,
  ...pictureRoutes,
  ...sessionRoutes,
  ...themeRoutes,
]
