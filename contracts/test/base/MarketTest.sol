// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {Vm} from "forge-std/Vm.sol";
import {AddressRegistry} from "../../src/AddressRegistry.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {IdentityRegistry} from "../../src/IdentityRegistry.sol";
import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {ReviewRegistry} from "../../src/ReviewRegistry.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {AddressKeys} from "../../src/libraries/AddressKeys.sol";
import {SandboxUSDC} from "../../src/sandbox/SandboxUSDC.sol";
import {Cheats} from "./Cheats.sol";

/// @notice A whole market: contracts, roles, a merchant with a product, a reviewer with a published review, buyers with money.
abstract contract MarketTest is Cheats {
    bytes32 internal constant PRODUCT = keccak256("product");
    uint16 internal constant COMMISSION_BPS = 1_000;
    uint256 internal constant FEE_BPS = 1_000;
    uint256 internal constant HELD_BACK_BPS = 5_000;
    uint256 internal constant PRICE = 25_000_000;
    /// @dev The parts of `buy()`: 25 USDC at a commission of 10% x 0.7, of which 10% fee and 20% cashback, the rest in halves.
    uint256 internal constant MERCHANT_NET = 23_250_000;
    uint256 internal constant COMMISSION = 1_750_000;
    uint256 internal constant FEE = 175_000;
    uint256 internal constant CASHBACK = 350_000;
    uint256 internal constant HELD_BACK = 612_500;
    uint256 internal constant IMMEDIATE = 612_500;
    SplitRouter.AuthorizationType internal constant RECEIVE = SplitRouter.AuthorizationType.Receive;
    SplitRouter.AuthorizationType internal constant TRANSFER = SplitRouter.AuthorizationType.Transfer;
    uint48 internal constant ADMIN_DELAY = 1 days;
    uint256 internal constant FUNDS = 1_000_000_000;

    address internal admin = makeAddr("admin");
    Wallet internal settlerWallet = makeWallet("settler");
    address internal settler = settlerWallet.addr;
    address internal oracle = makeAddr("oracle");
    address internal publisher = makeAddr("publisher");
    address internal guardian = makeAddr("guardian");
    address internal treasury = makeAddr("treasury");
    address internal stranger = makeAddr("stranger");
    Wallet internal merchant = makeWallet("merchant");
    Wallet internal reviewer = makeWallet("reviewer");
    Wallet internal buyer = makeWallet("buyer");
    Wallet internal walletBuyer = makeWallet("walletBuyer");

    SandboxUSDC internal usdc;
    IdentityRegistry internal identities;
    AddressRegistry internal addresses;
    MerchantRegistry internal merchants;
    ReviewRegistry internal reviews;
    CommissionEscrow internal escrow;
    SplitRouter internal router;

    uint256 internal merchantId;
    uint256 internal reviewerAgentId;
    uint256 internal buyerAgentId;
    uint256 internal reviewId;

    uint256 private _nonces;

    function setUp() public virtual {
        vm.warp(1_750_000_000);
        vm.startPrank(admin);
        usdc = SandboxUSDC(deploy("SandboxUSDC.sol:SandboxUSDC", abi.encode(admin)));
        identities = IdentityRegistry(deploy("IdentityRegistry.sol:IdentityRegistry", ""));
        addresses = AddressRegistry(deploy("AddressRegistry.sol:AddressRegistry", abi.encode(admin)));
        merchants = MerchantRegistry(
            deploy("MerchantRegistry.sol:MerchantRegistry", abi.encode(admin, ADMIN_DELAY, identities))
        );
        reviews = ReviewRegistry(
            deploy(
                "ReviewRegistry.sol:ReviewRegistry", abi.encode(admin, ADMIN_DELAY, addresses, identities, merchants)
            )
        );
        escrow = CommissionEscrow(
            deploy(
                "CommissionEscrow.sol:CommissionEscrow",
                abi.encode(admin, ADMIN_DELAY, addresses, identities, usdc, 60 days, 10 days)
            )
        );
        router = deployRouter(FEE_BPS, HELD_BACK_BPS);
        addresses.setAddress(AddressKeys.SPLIT_ROUTER, address(router));
        addresses.setAddress(AddressKeys.COMMISSION_ESCROW, address(escrow));
        addresses.setAddress(AddressKeys.TREASURY, treasury);
        escrow.grantRole(escrow.DEPOSITOR_ROLE(), address(router));
        escrow.grantRole(escrow.ORACLE_ROLE(), oracle);
        escrow.grantRole(escrow.GUARDIAN_ROLE(), guardian);
        merchants.grantRole(merchants.GUARDIAN_ROLE(), guardian);
        reviews.grantRole(reviews.PUBLISHER_ROLE(), publisher);
        router.grantRole(router.SETTLER_ROLE(), settler);
        usdc.mint(buyer.addr, FUNDS);
        usdc.mint(walletBuyer.addr, FUNDS);
        vm.stopPrank();

        merchantId = registerIdentity(merchant.addr);
        reviewerAgentId = registerIdentity(reviewer.addr);
        buyerAgentId = registerIdentity(buyer.addr);
        vm.startPrank(merchant.addr);
        merchants.setActive(merchantId, true);
        merchants.listProduct(merchantId, PRODUCT, COMMISSION_BPS, 0, MerchantRegistry.ProductType.Repeat, "ipfs://card");
        vm.stopPrank();
        reviewId = publishWithProof(1);
    }

    function deployRouter(uint256 feeBps, uint256 heldBackBps) internal returns (SplitRouter) {
        bytes memory args =
            abi.encode(admin, ADMIN_DELAY, identities, merchants, reviews, escrow, feeBps, heldBackBps);
        return SplitRouter(deploy("SplitRouter.sol:SplitRouter", args));
    }

    function registerIdentity(address owner) internal returns (uint256 agentId) {
        vm.prank(owner);
        return identities.register();
    }

    /// @dev Makes `wallet` the one that an agent is paid at, with its consent.
    function setAgentWallet(address owner, uint256 agentId, Wallet memory wallet) internal {
        uint256 deadline = block.timestamp + 5 minutes;
        bytes memory consent = sign(wallet, walletDigest(agentId, wallet.addr, owner, deadline));
        vm.prank(owner);
        identities.setAgentWallet(agentId, wallet.addr, deadline, consent);
    }

    function walletDigest(uint256 agentId, address wallet, address owner, uint256 deadline)
        internal
        view
        returns (bytes32)
    {
        bytes32 typehash =
            keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");
        bytes32 structHash = keccak256(abi.encode(typehash, agentId, wallet, owner, deadline));
        return typedDataHash(domainSeparator("ERC8004IdentityRegistry", "1", address(identities)), structHash);
    }

    function transferIdentity(address from, address to, uint256 agentId) internal {
        vm.prank(from);
        identities.transferFrom(from, to, agentId);
    }

    function blockAccount(address account) internal {
        vm.prank(admin);
        usdc.blacklist(account);
    }

    function unblockAccount(address account) internal {
        vm.prank(admin);
        usdc.unBlacklist(account);
    }

    // ---- reviews

    function reviewCommitment(uint256 nonce) internal view returns (ReviewRegistry.ReviewCommitment memory) {
        return ReviewRegistry.ReviewCommitment({
            agentId: reviewerAgentId,
            merchantId: merchantId,
            productId: PRODUCT,
            contentHash: reviews.hashContent(reviewerAgentId, merchantId, PRODUCT, "content"),
            nonce: nonce,
            expiry: block.timestamp + 1 hours
        });
    }

    function publishWithProof(uint256 proofId) internal returns (uint256) {
        ReviewRegistry.ReviewCommitment memory commitment = reviewCommitment(proofId);
        bytes memory signature = sign(reviewer, reviews.hashCommitment(commitment));
        vm.prank(publisher);
        return reviews.publishWithProof(proofId, commitment, signature);
    }

    // ---- purchases

    function attribution() internal view returns (SplitRouter.Attribution memory) {
        return SplitRouter.Attribution({
            merchantId: merchantId,
            productId: PRODUCT,
            reviewId: reviewId,
            reviewerAgentId: reviewerAgentId,
            buyerAgentId: buyerAgentId,
            cashbackOfCommissionBps: 2_000,
            commissionMultiplierBps: 7_000,
            salt: 0
        });
    }

    /// @dev A signed purchase by `payer`, with a nonce that commits to nothing.
    function signPurchase(
        Wallet memory payer,
        uint256 value,
        SplitRouter.AuthorizationType kind,
        SplitRouter.Attribution memory attributed
    ) internal returns (SplitRouter.Purchase memory) {
        return signPurchase(payer, value, kind, attributed, keccak256(abi.encode("nonce", ++_nonces)));
    }

    function signPurchase(
        Wallet memory payer,
        uint256 value,
        SplitRouter.AuthorizationType kind,
        SplitRouter.Attribution memory attributed,
        bytes32 nonce
    ) internal view returns (SplitRouter.Purchase memory purchase) {
        purchase.attribution = attributed;
        purchase.authorization = SplitRouter.Authorization({
            kind: kind,
            from: payer.addr,
            value: value,
            validAfter: 0,
            validBefore: block.timestamp + 1 hours,
            nonce: nonce,
            signature: ""
        });
        purchase.authorization.signature = sign(payer, authorizationDigest(purchase.authorization));
    }

    /// @dev A purchase that anybody may settle, since its nonce commits to the attribution.
    function signCommitted(Wallet memory payer, uint256 value, SplitRouter.Attribution memory attributed)
        internal
        returns (SplitRouter.Purchase memory)
    {
        attributed.salt = keccak256(abi.encode("salt", ++_nonces));
        bytes32 nonce = router.attributionNonce(attributed);
        return signPurchase(payer, value, SplitRouter.AuthorizationType.Receive, attributed, nonce);
    }

    function authorizationDigest(SplitRouter.Authorization memory authorization) internal view returns (bytes32) {
        bytes32 typehash = authorization.kind == SplitRouter.AuthorizationType.Receive
            ? usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH()
            : usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH();
        bytes32 structHash = keccak256(
            abi.encode(
                typehash,
                authorization.from,
                address(router),
                authorization.value,
                authorization.validAfter,
                authorization.validBefore,
                authorization.nonce
            )
        );
        return typedDataHash(usdc.DOMAIN_SEPARATOR(), structHash);
    }

    /// @dev A settler's permission to take a payment back.
    function signPermission(Wallet memory signer, address payer, bytes32 nonce, uint256 value, uint256 notBefore)
        internal
        view
        returns (bytes memory)
    {
        bytes32 typehash = keccak256("TakeBack(address payer,bytes32 nonce,uint256 value,uint256 notBefore)");
        bytes32 structHash = keccak256(abi.encode(typehash, payer, nonce, value, notBefore));
        bytes32 digest = typedDataHash(domainSeparator("ReferrerCharge", "1", address(router)), structHash);
        return sign(signer, keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", digest)));
    }

    /// @dev A stranger gives a front-run payment back, by the settler's permission.
    function takeBack(SplitRouter.Authorization memory z) internal {
        bytes memory permission = signPermission(settlerWallet, z.from, z.nonce, z.value, 0);
        vm.prank(stranger);
        router.takeBack(z, 0, permission);
    }

    /// @dev Buys the product as `buyer` and returns the terms of the new escrow.
    function buy() internal returns (CommissionEscrow.Terms memory) {
        return settle(signPurchase(buyer, PRICE, SplitRouter.AuthorizationType.Receive, attribution()));
    }

    /// @dev Buys as a wallet without an agent.
    function buyAgentless() internal returns (CommissionEscrow.Terms memory) {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.buyerAgentId = escrow.AGENTLESS();
        return settle(signPurchase(walletBuyer, PRICE, SplitRouter.AuthorizationType.Receive, attributed));
    }

    function settle(SplitRouter.Purchase memory purchase) internal returns (CommissionEscrow.Terms memory terms) {
        vm.recordLogs();
        vm.prank(settler);
        router.settle(purchase);
        return depositedTerms()[0];
    }

    /// @dev The terms of every escrow deposited since `vm.recordLogs()`.
    function depositedTerms() internal returns (CommissionEscrow.Terms[] memory deposits) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        deposits = new CommissionEscrow.Terms[](logs.length);
        uint256 count;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(escrow) && logs[i].topics[0] == ICommissionEscrowEvents.EscrowDeposited.selector) {
                deposits[count++] = decodeDeposit(logs[i]);
            }
        }
        assembly {
            mstore(deposits, count)
        }
    }

    function decodeDeposit(Vm.Log memory log) internal pure returns (CommissionEscrow.Terms memory terms) {
        terms.escrowId = uint256(log.topics[1]);
        terms.reviewerAgentId = uint256(log.topics[2]);
        terms.buyerAgentId = uint256(log.topics[3]);
        (
            terms.payer,
            terms.nonce,
            terms.merchantId,
            terms.productId,
            terms.reviewId,,,,
            terms.heldBack,
            terms.cashback,
            terms.windowEnd
        ) = abi.decode(
            log.data,
            (address, bytes32, uint256, bytes32, uint256, uint256, uint256, uint256, uint256, uint256, uint256)
        );
    }

    // ---- hashes

    function domainSeparator(string memory name, string memory version, address verifyingContract)
        internal
        view
        returns (bytes32)
    {
        bytes32 typehash =
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        return keccak256(
            abi.encode(typehash, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, verifyingContract)
        );
    }

    function typedDataHash(bytes32 domain, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    // ---- expectations

    function assertBalance(address account, uint256 expected, string memory who) internal view {
        assertEq(usdc.balanceOf(account), expected, who);
    }

    /// @dev The revert data of a `require` with a reason.
    function revertString(string memory reason) internal pure returns (bytes memory) {
        return abi.encodeWithSignature("Error(string)", reason);
    }

    function missingRole(address account, string memory role) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(
            IAccessControl.AccessControlUnauthorizedAccount.selector, account, keccak256(bytes(role))
        );
    }
}
