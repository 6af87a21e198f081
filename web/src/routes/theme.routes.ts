import { localPath } from '../app/local-path.ts'
import { route } from '../app/route.ts'

const aYearSeconds = 365 * 86_400

export const themeRoutes = [
  route('post', '/theme', { access: 'public', formToken: false }, ({ form, host, setCookie, redirect }) => {
    const theme = form.get('theme')
    const secure = host.secure ? '; Secure' : ''
    // Scripts may read and write it: it says nothing but light or dark.
    if (theme === 'light' || theme === 'dark')
      setCookie(`agentgym_theme=${theme}; Path=/; Max-Age=${aYearSeconds}; SameSite=Lax${secure}`)
    else setCookie(`agentgym_theme=; Path=/; Max-Age=0; SameSite=Lax${secure}`)
    return redirect(localPath(form.get('next')))
  }),
]
