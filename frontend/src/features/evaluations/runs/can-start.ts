/** Who starts, cancels and resumes runs. */
import { hasRole, type useUser } from "@/shared/account/account";

export const canStart = (user: ReturnType<typeof useUser>): boolean => hasRole(user, "admin") || hasRole(user, "researcher");
