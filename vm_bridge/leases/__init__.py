"""What Redis knows: machines, hosts, leases, who waits, quotas and used tickets.

Every change is one Lua script (`lua/`), so that any number of processes may ask at once, and times are the Redis
server's own, so that no two clocks disagree. `guard`: who may act and watch now. `store`: who gets which machine.
`inventory`: what a host says of its machines. `fleet_overview`: what an operator reads and sets. One Redis server, with
replicas if need be; not Redis Cluster, for a script touches the keys of many machines.
"""

from vm_bridge.leases.guard import LeaseGuard

__all__ = ["LeaseGuard"]
