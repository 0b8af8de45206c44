"""The lease store in Redis: machines, hosts, leases, queues, quotas and used tickets.

Every change is one Lua script (`lua/`), so any number of processes may call concurrently. Times are the Redis server's
own, so that clocks cannot disagree. `guard`: permission to act and watch. `store`: assignment of machines. `inventory`:
a host's reports about its machines. `fleet_overview`: an operator's calls. One Redis server, with replicas if need be;
not Redis Cluster, for a script touches the keys of many machines.
"""

from vm_bridge.leases.guard import LeaseGuard

__all__ = ["LeaseGuard"]
