import numpy as np
from bocu.robust.ambiguity import *
w=worst_case([[1.,2.,-2.]], [1-6e-15-1e-16, 6e-15, 1e-16], ChiSquared(.1)); print(w, ChiSquared(.1).distance(w.distribution,[1-6e-15-1e-16, 6e-15, 1e-16]))
x=np.linspace(0,1,11); p=np.exp(-.5*((x-.3)/.01185)**2); p/=p.sum()
for s in (ChiSquared(.1),ModifiedChiSquared(.1),CressieRead(.1,k=2.)):
    w=worst_case(np.sin(9*x),p,s); print(s,float(w.value),float(w.gap))
# narrow normals: many
rng=np.random.default_rng(0); bad=nan=0; N=4000; worst=0
for i in range(N):
    n=int(rng.integers(11,102)); x=np.linspace(0,1,n); sd=10**rng.uniform(-3,-.7); p=np.exp(-.5*((x-rng.random())/sd)**2)
    if p.sum()==0: continue
    p/=p.sum(); e=10**rng.uniform(-3,1); f=np.sin(9*x+rng.random())
    try: w=worst_case(f,p,ChiSquared(e))
    except Exception as ex: bad+=1; print(ex); continue
    if not np.isfinite(w.value) or not np.isfinite(w.distribution).all(): nan+=1; continue
    d=float(ChiSquared(e).distance(w.distribution,p)); 
    if d>e*(1+1e-6): bad+=1
    worst=max(worst,float(w.gap)/np.ptp(f))
print('narrow normals',N,'infeasible',bad,'nan',nan,'largest gap',worst)
try: print(worst_case(np.sin(9*x),np.full(n,1/n),MaximumMeanDiscrepancy(1e200,squared_exponential_gram(x,.3))).value)
except Exception as e: print(repr(e))
# batches, values, values_at against worst_case
kinds={'tv':TotalVariation,'chi2':ChiSquared,'chi2mod':ModifiedChiSquared,'kl':KullbackLeibler}
mx={}
for k,K in kinds.items():
    m=0
    for i in range(150):
        n=int(rng.integers(2,40)); B=int(rng.integers(2,7))
        P=np.array([10.0**np.append(rng.uniform(-300,0,n-1),0)[rng.permutation(n)] for _ in range(B)]); P/=P.sum(1,keepdims=True)
        f=rng.normal(size=(B,n))*10**rng.uniform(-12,12); e=10**rng.uniform(-12,4)
        a=worst_case(f,P,K(e)); v,_=K(e).values(f,P); at=K(0.).values_at(f,P,[e/2,e])[:,1]
        one=np.array([float(worst_case(f[b],P[b],K(e)).value) for b in range(B)])
        sc=np.ptp(f,axis=1); m=max(m,np.abs((np.array(a.value)-v)/sc).max(),np.abs((at-v)/sc).max(),np.abs((one-v)/sc).max())
    mx[k]=m
print('batch/values/values_at agree to',mx)
